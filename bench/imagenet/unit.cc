#include "bench/imagenet/unit.h"

#include <penstock/io.h>

#include <algorithm>
#include <optional>

#include "bench/imagenet/interrupt.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

std::optional<Tensor> read_or_nothing(const std::string& path) {
  try {
    return read_file(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Unit::Unit(const std::vector<std::string>& paths, std::size_t most_bytes) {
  constexpr std::size_t typical_bytes = 110'000;  // of an ImageNet file
  const std::size_t most_files = std::max<std::size_t>(1, most_bytes / typical_bytes);
  const std::size_t step = std::max<std::size_t>(1, (paths.size() + most_files - 1) / most_files);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < paths.size() && bytes < most_bytes; i += step) {
    if (auto file = read_or_nothing(paths[i])) {
      bytes += file->bytes();
      files_.push_back(std::move(*file));
    }
  }
  // The longest file is likely to have the most pixels: the output buffer is there before anything is timed.
  const auto longest = std::ranges::max_element(files_, {}, &Tensor::bytes);
  if (longest != files_.end()) full_decode_.decode({longest->data(), longest->bytes()});
}

double Unit::images_per_s() {
  // of a small set, several rounds: one is a sixth of a second, too few to trust
  constexpr std::int64_t least_ns = 500'000'000;
  std::size_t decoded = 0;
  std::int64_t cpu = 0;
  const std::int64_t begin = thread_cpu_ns();
  do {
    decoded += decode_all();
    cpu = thread_cpu_ns() - begin;
  } while (cpu < least_ns && !files_.empty() && !interrupted());
  return cpu > 0 ? 1e9 * static_cast<double>(decoded) / static_cast<double>(cpu) : 0;
}

std::size_t Unit::decode_all() {
  std::size_t decoded = 0;
  for (const Tensor& file : files_) {
    if (interrupted()) break;
    if (full_decode_.decode({file.data(), file.bytes()})) ++decoded;
  }
  return decoded;
}

}  // namespace penstock::bench
