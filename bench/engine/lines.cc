// What the lines of a text file cost, from the page cache, beside plain loops over the same file in the same rounds:
//
//   getline    std::getline into one string
//   memchr     read(2) of 256 KiB at a time, and memchr(3): nothing is made of a line
//   strings    the same, and a std::string of its own for each line
//
// The file is read eight times in a row, so that 2 GiB are read of 256 MiB that are written.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/engine/temporary_file.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

constexpr std::size_t kFile = 256 << 20, kReadAtOnce = 256 << 10;
constexpr int kTimes = 8;
constexpr double kGigabyte = 1e9, kMegabyte = 1e6;

// Lines of 4/5 to 6/5 of `bytes`, the '\n' included. There while this lives.
class TextFile {
 public:
  explicit TextFile(std::size_t bytes) : file_("lines") {
    std::ofstream out(path(), std::ios::binary);
    for (std::size_t written = 0; written < kFile; ++lines_) {
      const std::size_t length = bytes * 4 / 5 + static_cast<std::size_t>(lines_ * 7919) % (bytes * 2 / 5);
      out << std::string(length - 1, static_cast<char>('a' + lines_ % 26)) << '\n';
      written += length;
    }
    if (!out.flush()) throw std::runtime_error("lines: cannot write " + path());
  }

  std::string path() const { return file_.path(); }
  std::int64_t lines() const { return kTimes * lines_; }
  double bytes() const { return kTimes * static_cast<double>(std::filesystem::file_size(path())); }

 private:
  const TemporaryFile file_;
  std::int64_t lines_ = 0;
};

std::int64_t by_getline(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::int64_t count = 0;
  for (std::string line; std::getline(in, line);) ++count;
  return count;
}

// Calls use(line) for each; one that a chunk ends is moved before the next chunk.
template <class Use> std::int64_t by_memchr(const std::string& path, Use use) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<char> buffer(2 * kReadAtOnce);
  std::int64_t count = 0;
  std::size_t rest = 0;
  for (ssize_t got = 0; (got = ::read(file, buffer.data() + rest, kReadAtOnce)) > 0;) {
    const char* at = buffer.data();
    const char* const end = at + rest + got;
    while (const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) {
      use(std::string_view(at, static_cast<std::size_t>(newline - at)));
      at = newline + 1;
      ++count;
    }
    rest = static_cast<std::size_t>(end - at);
    std::memmove(buffer.data(), at, rest);
  }
  ::close(file);
  return count;
}

template <class Read> Cost cost_of(const TextFile& file, Read read) {
  const Meter meter;
  std::int64_t count = 0;
  for (int time = 0; time < kTimes; ++time) count += read(file.path());
  if (count != file.lines()) throw std::runtime_error("lines: a plain loop has missed some");
  return meter.stop();
}

struct Measured {
  Cost getline, memchr, strings, one_by_one, batched;
  double rss = 0;  // bytes more than at the start, at most
};

template <class T> Cost drained(const Dataset<T>& data, std::int64_t expected, double& rss) {
  const auto before = static_cast<double>(rss_bytes());
  const Meter meter;
  std::int64_t count = 0;
  auto run = data.start();
  for (; run.next(); ++count)
    if (count % 4096 == 0) rss = std::max(rss, static_cast<double>(rss_bytes()) - before);
  if (count != expected) throw std::runtime_error("lines: expected " + std::to_string(expected) + " elements");
  return meter.stop();
}

void measure(const TextFile& file, Measured& best) {
  const auto data = lines(std::vector<std::string>(kTimes, file.path()));
  constexpr std::int64_t kBatch = 1024;
  std::size_t bytes = 0;
  keep_cheaper(best.getline, cost_of(file, by_getline));
  keep_cheaper(best.memchr, cost_of(file, [&](const std::string& path) {
                 return by_memchr(path, [&](std::string_view line) { bytes += line.size(); });
               }));
  keep_cheaper(best.strings, cost_of(file, [&](const std::string& path) {
                 return by_memchr(path, [&](std::string_view line) { bytes += std::string(line).size(); });
               }));
  keep_cheaper(best.one_by_one, drained(data, file.lines(), best.rss));
  keep_cheaper(best.batched, drained(data.batch(kBatch), (file.lines() + kBatch - 1) / kBatch, best.rss));
  if (bytes == 0) throw std::runtime_error("lines: the lines were empty");
}

Row row_of(const std::string& variant, const TextFile& file, const Cost& cost, const Measured& best) {
  return {"lines",
          variant,
          file.lines(),
          cost,
          {{"gb_per_cpu_s", file.bytes() / kGigabyte / cost.cpu_s},
           {"gb_per_s", file.bytes() / kGigabyte / cost.wall_s},
           {"cpu_ns_per_line", ns_per(cost.cpu_s, file.lines())},
           {"of_getline", cost.cpu_s / best.getline.cpu_s},
           {"of_memchr", cost.cpu_s / best.memchr.cpu_s},
           {"of_strings", cost.cpu_s / best.strings.cpu_s}},
          {}};
}

}  // namespace

void run_lines(const CaseSettings& settings, Report& report) {
  for (const std::size_t bytes : {90u, 1000u}) {
    const TextFile file(bytes);
    Measured best;
    for (int round = 0; round < settings.rounds_or(3); ++round) measure(file, best);
    const std::string size = "_" + std::to_string(bytes);
    report.add(row_of("getline" + size, file, best.getline, best));
    report.add(row_of("memchr" + size, file, best.memchr, best));
    report.add(row_of("strings" + size, file, best.strings, best));
    for (const auto& [name, cost] : {std::pair("one_by_one", best.one_by_one), std::pair("batch1024", best.batched)}) {
      Row row = row_of(name + size, file, cost, best);
      row.figures.emplace_back("rss_mb", best.rss / kMegabyte);
      row.bars = {{"gb_per_cpu_s", 1, false}};
      report.add(row);
    }
  }
}

}  // namespace penstock::bench
