#include "lib/runtime/save_point_bytes.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lib/core/crc32.h"
#include "lib/core/varint.h"

namespace penstock::runtime {
namespace {

using exec::SavePoint;
using exec::SavePointRef;

constexpr std::int64_t kMostSlots = std::int64_t{1} << 62;  // so that counting on never overflows
const std::string kLayout = "1\n";                          // of what ops and stages write: another where that changes
constexpr int kDeepest = 1024;                              // stages

std::uint64_t digest_of(const exec::Plan& plan) { return crc32(kLayout + plan.work_text); }

void append(std::string& bytes, const SavePoint& point) {
  append_varint(bytes, point.inputs.size());
  for (const SavePoint::Input& input : point.inputs) {
    append_varint(bytes, input.at != nullptr ? 1 : 0);
    if (input.at != nullptr) append(bytes, *input.at);
    append_varint(bytes, static_cast<std::uint64_t>(input.since));
  }
  append_varint(bytes, point.held.size());
  for (const std::int64_t number : point.held) append_varint(bytes, static_cast<std::uint64_t>(number));
  append_varint(bytes, point.state.size());
  bytes += point.state;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    const auto number = take_varint(bytes_);
    if (!number) exec::fail_to_resume();
    return *number;
  }
  SavePointRef node(int depth = 0) {
    if (depth > kDeepest) exec::fail_to_resume();
    auto point = std::make_shared<SavePoint>();
    for (std::uint64_t inputs = count(); inputs > 0; --inputs) {
      SavePointRef at = number() != 0 ? node(depth + 1) : nullptr;
      point->inputs.push_back({std::move(at), slots(kMostSlots)});
    }
    const std::int64_t since = point->inputs.empty() ? 0 : point->inputs.front().since;
    for (std::uint64_t held = count(); held > 0; --held) point->held.push_back(slots(since - 1));
    check_distinct(point->held);
    point->state = text();
    return point;
  }
  bool is_at_end() const noexcept { return bytes_.empty(); }

 private:
  // Of things that take a byte each, at least.
  std::uint64_t count() {
    const std::uint64_t count = number();
    if (count > bytes_.size()) exec::fail_to_resume();
    return count;
  }
  std::int64_t slots(std::int64_t most) {
    const std::uint64_t slots = number();
    if (most < 0 || slots > static_cast<std::uint64_t>(most)) exec::fail_to_resume();
    return static_cast<std::int64_t>(slots);
  }
  std::string text() {
    const auto size = static_cast<std::size_t>(count());
    std::string text(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return text;
  }
  static void check_distinct(std::vector<std::int64_t> numbers) {
    std::ranges::sort(numbers);
    if (std::ranges::adjacent_find(numbers) != numbers.end()) exec::fail_to_resume();
  }

  std::string_view bytes_;
};

}  // namespace

std::string bytes_of(const SavePoint& point, const exec::Plan& plan) {
  std::string bytes;
  append_varint(bytes, digest_of(plan));
  append(bytes, point);
  return bytes;
}

SavePointRef save_point_of(std::string_view bytes, const exec::Plan& plan) {
  Reader reader(bytes);
  if (reader.number() != digest_of(plan)) return nullptr;
  SavePointRef point = reader.node();
  if (!reader.is_at_end()) exec::fail_to_resume();
  return point;
}

}  // namespace penstock::runtime
