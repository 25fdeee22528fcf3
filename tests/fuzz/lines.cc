#include <penstock/error.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/io/line_reader.h"
#include "ops/unpacked_files.h"
#include "tests/fuzz/targets.h"
#include "tests/support/plain_lines.h"

namespace penstock::fuzz {
namespace {

// A file in memory that gives so many bytes at once, and is interrupted now and then.
class Text final : public io::FileSystem {
 public:
  Text(std::string_view text, std::size_t at_once) : text_(text), at_once_(at_once) {}

  io::Answer<std::unique_ptr<io::File>> open(const std::string&) const override {
    return {.value = std::make_unique<Opened>(text_, at_once_)};
  }
  io::Answer<io::FileStatus> status(const std::string&) const override { return {.error = EIO}; }
  io::Answer<std::vector<io::FolderEntry>> list(const std::string&) const override { return {.error = EIO}; }
  io::Answer<std::string> real_path(const std::string&) const override { return {.error = EIO}; }
  int replace(const std::string&, std::span<const std::byte>) const override { return EIO; }
  void pause(std::chrono::milliseconds) const override {}

 private:
  class Opened final : public io::File {
   public:
    Opened(std::string_view text, std::size_t at_once) : text_(text), left_(text), at_once_(at_once) {}
    io::Answer<io::FileStatus> status() override { return {.value = {.version = {.size = text_.size()}}}; }
    io::Answer<std::size_t> read(std::span<std::byte> to) override {
      if (++reads_ % 5 == 0) return {.error = EINTR};
      const std::size_t count = std::min({to.size(), left_.size(), at_once_});
      std::memcpy(to.data(), left_.data(), count);
      left_.remove_prefix(count);
      return {.value = count};
    }
    int rewind() override { return seek(0); }
    int seek(std::size_t place) override {
      left_ = text_.substr(std::min(place, text_.size()));
      return 0;
    }

   private:
    const std::string_view text_;
    std::string_view left_;
    const std::size_t at_once_;
    int reads_ = 0;
  };

  const std::string_view text_;
  const std::size_t at_once_;
};

struct Case {
  std::size_t limit, at_once;
  std::string text;
};

// Of few bytes a text of several chunks: those from 0xf0 on are many letters each.
Case case_of(std::string_view bytes) {
  const auto number = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(bytes[i])}; };
  if (bytes.size() < 2) return {1, 1, std::string(bytes)};
  const std::size_t limit = number(0) < 128 ? number(0) + 1 : (number(0) - 127) * 10'000;
  Case made{limit, 1'000 * (number(1) + 1), {}};
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    if (number(i) < 0xf0 || made.text.size() > 400'000)
      made.text += bytes[i];
    else
      made.text.append((number(i) - 0xef) * 17'000, 'x');
  }
  return made;
}

using Lines = std::vector<std::optional<std::string>>;  // nothing: an error

Lines expected_of(const Case& asked) {
  Lines lines;
  for (std::string& line : test::plain_lines(asked.text))
    lines.push_back(line.size() > asked.limit ? std::nullopt : std::optional(std::move(line)));
  return lines;
}

Lines read(const io::FileSystem& files, std::size_t limit) {
  io::LineReader reader(files, "/f", limit);
  Lines lines;
  for (bool has_more = true; has_more;) {
    std::optional<io::LineBlock> block;
    const bool has_read = succeeds([&] { block = reader.next(); });
    if (!has_read) lines.emplace_back(std::nullopt);
    for (std::size_t i = 0; block && i < block->size(); ++i) lines.emplace_back(std::string((*block)[i]));
    require(!block || block->size() > 0, "a block has lines");
    has_more = !has_read || block.has_value();
  }
  return lines;
}

}  // namespace

void lines(std::string_view bytes) {
  const Case asked = case_of(bytes);
  const auto files = std::make_shared<const Text>(asked.text, asked.at_once);
  require(read(*files, asked.limit) == expected_of(asked), "lines are those that are found letter by letter");
  if (!asked.text.starts_with("\x1f\x8b")) return;
  for (const auto& line : read(*ops::unpacked(files), asked.limit))
    require(!line || line->size() <= asked.limit, "lines of what gzip has packed are no longer than they may be");
}

}  // namespace penstock::fuzz
