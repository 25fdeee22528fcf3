#include "tests/conformance/line_files.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace conformance {
namespace {

constexpr std::int64_t kLinesOfFile = 4;
constexpr std::size_t kChunkBytes = 6'000;  // of such a file: a page, where its lines lie, and the strings

// The numbers from 0, four a file. The last line of each has no end.
std::vector<std::string> write_files(const Feed& feed) {
  std::vector<std::string> paths;
  for (std::int64_t first = 0; first < feed.count; first += kLinesOfFile) {
    paths.push_back(feed.folder + "/" + std::to_string(first) + ".txt");
    std::ofstream out(paths.back(), std::ios::binary);
    const std::int64_t end = std::min(first + kLinesOfFile, feed.count);
    for (std::int64_t number = first; number < end; ++number) out << (number == first ? "" : "\r\n") << number;
  }
  return paths;
}

std::string text_of_line(const ps::Element& element) { return element.get<std::string>(); }

}  // namespace

std::vector<Case> line_sources() {
  const std::vector<Op> ops{{.kind = Kind::from_vector, .name = "lines"}, {.kind = Kind::map, .name = "split_lines"}};
  const Traits traits{
      .place = Place::source, .only_copyable = "gives strings", .element_bytes = kChunkBytes, .large_ops = 2};
  const auto build = [](const std::vector<Op>&, const Feed& feed) -> Built {
    return {ps::lines(write_files(feed)).node(), text_of_line};
  };
  return {{"lines", ops, traits, build, nullptr}};
}

}  // namespace conformance
