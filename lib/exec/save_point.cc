#include "lib/exec/save_point.h"

#include <penstock/error.h>

namespace penstock::exec {

void fail_to_resume(const std::string& why) {
  throw Error(ErrorCode::data_loss, "the checkpoint's save point is none of this pipeline" + why +
                                        ". Take another copy or an earlier checkpoint, or start the epoch anew");
}

void write_digits(const std::vector<std::int64_t>& digits, StateWriter& out) {
  for (const std::int64_t digit : digits) out.number(digit);
}

std::vector<std::int64_t> read_digits(std::size_t count, StateReader& in) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;  // so that counting on never overflows
  std::vector<std::int64_t> digits;
  for (; count > 0; --count) digits.push_back(in.number(0, kMost));
  return digits;
}

void check_inputs(const SavePoint& point, std::size_t inputs) {
  if (point.inputs.size() != inputs) fail_to_resume();
}

}  // namespace penstock::exec
