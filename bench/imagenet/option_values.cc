#include "bench/imagenet/option_values.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/text.h"
#include "lib/core/cpu_budget.h"

namespace penstock::bench {
namespace {

// The value that goes with a name.
template <class Value>
Value choose(const std::string& text, const std::vector<std::pair<std::string_view, Value>>& choices) {
  std::string names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw UsageError("must be one of " + names + ", but is '" + text + "'");
}

// Threads, that is: each costs memory and a start, and a system refuses some ten thousand.
constexpr std::int64_t most_cores = 1024;

std::int64_t number_from(std::int64_t low, const std::string& text, std::int64_t high = largest_number) {
  const auto number = parse_integer(text);
  if (!number || *number < low || *number > high)
    throw UsageError("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                     ", but is '" + text + "'");
  return *number;
}

// "40" of "40%".
double parse_per_cent(const std::string& text) {
  const auto number = parse_integer(std::string_view(text).substr(0, text.size() - 1));
  if (!number || *number < 1 || *number > 1000)
    throw UsageError("must be a share from 1% to 1000%, but is '" + text + "'");
  return static_cast<double>(*number) / 100;
}

}  // namespace

Workload parse_workload(const std::string& text) {
  if (text == "W1") return Workload::boxes;
  if (text == "W2") return Workload::train;
  if (text == "W3") return Workload::eval;
  return choose<Workload>(text, {{"boxes", Workload::boxes}, {"train", Workload::train}, {"eval", Workload::eval}});
}

DType parse_dtype(const std::string& text) {
  return choose<DType>(text, {{"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16}, {"u8", DType::u8}});
}

image::Layout parse_layout(const std::string& text) {
  return choose<image::Layout>(text, {{"nhwc", image::Layout::nhwc}, {"nchw", image::Layout::nchw}});
}

BoxPolicy parse_box_policy(const std::string& text) {
  return choose<BoxPolicy>(text, {{"tf", BoxPolicy::tf}, {"strict", BoxPolicy::strict}, {"clamp", BoxPolicy::clamp}});
}

image::Dct parse_dct(const std::string& text) {
  return choose<image::Dct>(text, {{"islow", image::Dct::islow}, {"ifast", image::Dct::ifast}});
}

image::Decoder parse_decoder(const std::string& text) {
  using image::Decoder;
  return choose<Decoder>(text, {{"auto", Decoder::automatic}, {"libjpeg", Decoder::libjpeg}, {"own", Decoder::own}});
}

image::Simd parse_simd(const std::string& text) {
  using image::Simd;
  const auto simd = choose<Simd>(text, {{"auto", Simd::automatic},
                                        {"scalar", Simd::scalar},
                                        {"sse4", Simd::sse4},
                                        {"avx2", Simd::avx2},
                                        {"avx512", Simd::avx512},
                                        {"neon", Simd::neon}});
  const std::vector<Simd> here = image::supported_simd();
  if (simd == Simd::automatic || std::find(here.begin(), here.end(), simd) != here.end()) return simd;
  throw UsageError("this machine or build has no " + text + "; its best is " +
                   std::string(to_string(image::best_simd())));
}

Without parse_without(const std::string& steps) {
  Without without;
  std::istringstream list(steps);
  for (std::string step; std::getline(list, step, ',');) {
    if (step == "roi")
      without.fast.roi = false;
    else if (step == "slots")
      without.fast.rows = false;
    else if (step == "stream")
      without.fast.stream = false;
    else if (step == "simd")
      without.simd = true;
    else if (step == "own")
      without.own = true;
    else
      throw UsageError("must be a list of roi, slots, stream, simd, own, but has '" + step + "'");
  }
  return without;
}

ErrorPolicy parse_error_policy(const std::string& text) {
  if (text == "stop") return stop_on_error();
  if (text == "skip") return skip_all();
  if (text.starts_with("skip:")) return skip_up_to(number_from(1, text.substr(5)));
  throw UsageError("must be stop, skip or skip:N, but is '" + text + "'");
}

std::uint64_t parse_seed(const std::string& text) {
  const auto seed = parse_unsigned(text);
  if (!seed) throw UsageError("must be a whole number from 0, but is '" + text + "'");
  return *seed;
}

std::size_t parse_memory(const std::string& text) {
  const std::uint64_t bytes = parse_bytes(text);
  if (bytes == 0) throw UsageError("must be above 0");
  // The library counts bytes in 63 bits, and adds them up.
  if (bytes > std::uint64_t{1} << 60) throw UsageError("must be at most 1048576T, but is '" + text + "'");
  return bytes;
}

std::chrono::nanoseconds parse_time(const std::string& text) {
  // Far below 2^63 ns: it is added to a clock.
  const std::chrono::nanoseconds time = parse_duration(text);
  if (time > std::chrono::hours(1000)) throw UsageError("must be at most 1000h, but is '" + text + "'");
  return time;
}

double parse_share(const std::string& text) {
  std::size_t used = 0;
  double share = -1;
  try {
    share = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !(share >= 0 && share <= 1))
    throw UsageError("must be a number from 0 to 1, but is '" + text + "'");
  return share;
}

int parse_cpu(const std::string& text) {
  if (text == "auto" || text == "all") return 0;
  if (text.ends_with('%')) {
    const double cores = HostLimits().cpus().cpus() * parse_per_cent(text);
    return static_cast<int>(std::max(1L, std::lround(cores)));
  }
  return static_cast<int>(number_from(1, text, most_cores));
}

std::function<std::int64_t(const std::string&)> whole_number(std::int64_t low) {
  return [low](const std::string& text) { return number_from(low, text); };
}

std::function<Tunable(const std::string&)> parse_tunable(std::int64_t low) {
  return [low](const std::string& text) { return text == "auto" ? AUTOTUNE : Tunable(number_from(low, text)); };
}

const char* to_string(Workload workload) {
  switch (workload) {
    case Workload::boxes: return "boxes";
    case Workload::train: return "train";
    case Workload::eval: return "eval";
  }
  return "";
}

const char* to_string(image::Layout layout) { return layout == image::Layout::nhwc ? "nhwc" : "nchw"; }

}  // namespace penstock::bench
