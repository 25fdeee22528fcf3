// From the texts of the command line to values. Each function throws UsageError, or Error, with what is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/imagenet/options.h"

namespace penstock::bench {

Workload parse_workload(const std::string& text);  // also W1, W2, W3
DType parse_dtype(const std::string& text);
image::Layout parse_layout(const std::string& text);
BoxPolicy parse_box_policy(const std::string& text);
image::Dct parse_dct(const std::string& text);
image::Decoder parse_decoder(const std::string& text);
image::Simd parse_simd(const std::string& text);
ErrorPolicy parse_error_policy(const std::string& text);
std::uint64_t parse_seed(const std::string& text);
std::size_t parse_memory(const std::string& text);
std::chrono::nanoseconds parse_time(const std::string& text);
double parse_share(const std::string& text);

// "roi,stream": all steps but these.
Without parse_without(const std::string& steps);

// "8", "40%" of the cores this process may use (at least one), "auto": 0.
int parse_cpu(const std::string& text);

// From `low` to largest_number.
std::function<std::int64_t(const std::string&)> whole_number(std::int64_t low);
std::function<Tunable(const std::string&)> parse_tunable(std::int64_t low);

const char* to_string(Workload workload);
const char* to_string(image::Layout layout);

}  // namespace penstock::bench
