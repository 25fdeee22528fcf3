// What the user asks penstock-imagenet to do. The manual of the flags is `penstock-imagenet --help`.
#pragma once

#include <penstock/image/convert.h>
#include <penstock/image/jpeg.h>
#include <penstock/imagenet.h>
#include <penstock/options.h>
#include <penstock/tensor.h>
#include <penstock/tunable.h>
#include <penstock/voc.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "ops/imagenet/fast_path.h"

namespace penstock::bench {

// Of whole numbers of the command line and the configuration file, seeds aside: what the library's
// int and uint32_t options can hold.
inline constexpr std::int64_t largest_number = std::numeric_limits<int>::max();

enum class Workload : std::uint8_t { boxes, train, eval };

// What --without has named.
struct Without {
  imagenet::FastPath fast;  // less its steps
  bool own = false;
  bool simd = false;
};

// Consistent values: parse_options() has checked them.
struct ImagenetOptions {
  // What is read.
  std::string data;
  std::string annotations;
  std::string file_list;
  std::string labels;

  // What is made of it.
  Workload workload = Workload::boxes;
  DType dtype = DType::f32;
  std::optional<image::Layout> layout;  // none: nhwc, in --peer as the peers do it
  image::Size crop;                     // 0 x 0: the workload's own
  std::int64_t batch = 128;
  std::int64_t epochs = 1;
  std::optional<std::int64_t> steps;
  std::int64_t shuffle_buffer = 200'000;
  bool reshuffle = true;
  std::uint64_t seed = 1;
  ErrorPolicy on_error = stop_on_error();
  BoxPolicy boxes = BoxPolicy::tf;
  image::Dct dct = image::Dct::islow;
  image::Decoder decoder = image::Decoder::automatic;
  Without without;
  image::Simd simd = image::Simd::automatic;
  bool horovod = false;
  std::optional<std::int64_t> num_classes;  // more labels than these are an error

  // With what.
  int threads = 0;  // 0: all there are
  std::size_t memory_bytes = 0;
  Tunable parallel = AUTOTUNE;
  Tunable open_io = AUTOTUNE;
  Tunable prefetch = AUTOTUNE;
  bool serial = false;
  std::int64_t intraop = 0;  // given, without effect

  // The consumer.
  std::chrono::nanoseconds step_time{0};
  double step_cpu = 0;  // share of step_time that is computing
  std::int64_t cached_batches = 0;

  // What is measured and printed.
  std::int64_t repetitions = 3;
  bool with_unit = false;
  bool digest_timed = false;
  bool json = false;
  bool quiet = false;
  bool explain = false;
  std::string stats_file;
  std::string trace_file;

  // Other modes.
  std::int64_t generate = 0;     // pictures to write, 0: none
  bool straightforward = false;  // without penstock
  bool peer = false;
  std::int64_t passes = 1;  // of --peer
};

// Wrong usage: the program says why and exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ParsedOptions {
  ImagenetOptions options;
  // Where set, the program has said all there is to say: --help, --version, wrong usage.
  std::optional<int> exit_code;
};

// Who asks: for --help, --version and messages.
struct ProgramText {
  const char* name;
  const char* summary;
};

// Reads the command line and the configuration file that it names.
ParsedOptions parse_options(int count, const char* const* arguments, const ProgramText& program);

}  // namespace penstock::bench
