#include "lib/exec/save_point.h"

#include <algorithm>

#include <penstock/error.h>

#include "lib/core/varint.h"

namespace penstock::exec {

void fail_to_resume(const std::string& why) {
  throw Error(ErrorCode::data_loss, "the checkpoint's save point is none of this pipeline" + why +
                                        ". Take another copy or an earlier checkpoint, or start the epoch anew");
}

HeldNumbers HeldNumbers::of(const std::vector<std::int64_t>& numbers) {
  HeldNumbers held{.varints = {}, .count = static_cast<std::int64_t>(numbers.size()), .base = 0};
  for (const std::int64_t number : numbers) append_varint(held.varints, static_cast<std::uint64_t>(number));
  return held;
}

std::vector<std::int64_t> HeldNumbers::list() const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  std::string_view left = varints;
  while (const auto number = take_varint(left)) numbers.push_back(static_cast<std::int64_t>(*number) - base);
  return numbers;
}

void SavePace::note(std::int64_t begin, std::int64_t now, std::int64_t held) noexcept {
  constexpr double kInverseShare = 100;
  const auto count = static_cast<double>(std::max<std::int64_t>(held, 1));
  const double each = static_cast<double>(now - begin) / count;
  each_ns_ = each_ns_ == 0 ? each : std::min(each, 2 * each_ns_);
  saved_ns_ = now;
  pause_ns_ = static_cast<std::int64_t>(kInverseShare * each_ns_ * count);
}

void write_digits(const std::vector<std::int64_t>& digits, StateWriter& out) {
  for (const std::int64_t digit : digits) out.number(digit);
}

std::vector<std::int64_t> read_digits(std::size_t count, StateReader& in) {
  std::vector<std::int64_t> digits;
  for (; count > 0; --count) digits.push_back(in.count());
  return digits;
}

void check_inputs(const SavePoint& point, std::size_t inputs) {
  if (point.inputs.size() != inputs) fail_to_resume();
}

}  // namespace penstock::exec
