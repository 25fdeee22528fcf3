#include "lib/runtime/save_point_bytes.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <penstock/error.h>

#include "lib/core/crc32.h"
#include "lib/core/rice_code.h"
#include "lib/core/varint.h"

namespace penstock::runtime {
namespace {

using exec::SavePoint;
using exec::SavePointRef;

const std::string kLayout = "2\n";                          // of what ops and stages write: another where that changes
constexpr int kDeepest = 4096;                              // stages
constexpr std::int64_t kMostSlots = std::int64_t{1} << 62;  // so that counting on never overflows

std::uint64_t digest_of(const exec::Plan& plan) { return crc32(kLayout + plan.work_text); }

// Numbers as ages, and back: how many of the slots that are used up come behind each.
std::vector<std::int64_t> flipped(std::vector<std::int64_t> numbers, std::int64_t since) {
  for (std::int64_t& number : numbers) number = since - 1 - number;
  return numbers;
}

// Whether each is one of the slots that are used up, and none comes twice. A bit for each of these, unless they are
// many more.
bool are_used_up(const std::vector<std::int64_t>& numbers, std::int64_t since) {
  const auto [least, most] = std::ranges::minmax(numbers);
  if (least < 0 || most >= since) return false;
  if (most / 64 > std::ssize(numbers)) {
    auto sorted = numbers;
    std::ranges::sort(sorted);
    return std::ranges::adjacent_find(sorted) == sorted.end();
  }
  std::vector<bool> seen(static_cast<std::size_t>(most) + 1);
  return std::ranges::none_of(numbers, [&](std::int64_t number) {
    const auto i = static_cast<std::size_t>(number);
    const bool is_again = seen[i];
    seen[i] = true;
    return is_again;
  });
}

void append_held(std::string& bytes, const std::vector<std::int64_t>& numbers, std::int64_t since) {
  if (!are_used_up(numbers, since))
    throw Error(ErrorCode::invalid_argument,
                "the save() of an op tells StateWriter::held() of an input that it has not been given, or of one "
                "twice. Each input that is held is told once, by what Emitter::input_number() was when it came");
  append_rice_coded(bytes, flipped(numbers, since));
}

void append(std::string& bytes, const SavePoint& point) {
  append_varint(bytes, point.inputs.size());
  for (const SavePoint::Input& input : point.inputs) {
    append_varint(bytes, input.at != nullptr ? 1 : 0);
    if (input.at != nullptr) append(bytes, *input.at);
    append_varint(bytes, static_cast<std::uint64_t>(input.since.slots));
    append_varint(bytes, static_cast<std::uint64_t>(input.since.errors));
  }
  append_varint(bytes, static_cast<std::uint64_t>(point.held.count));
  if (point.held.count > 0) append_held(bytes, point.held.list(), point.inputs.front().since.slots);
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
      const std::int64_t since = slots();
      point->inputs.push_back({std::move(at), {since, slots(since)}});
    }
    if (const std::uint64_t held = number(); held > 0) point->held = exec::HeldNumbers::of(held_of(held, *point));
    point->state = text();
    return point;
  }
  std::int64_t slots(std::int64_t most = kMostSlots) {
    const std::uint64_t slots = number();
    if (slots > static_cast<std::uint64_t>(most)) exec::fail_to_resume();
    return static_cast<std::int64_t>(slots);
  }
  bool is_at_end() const noexcept { return bytes_.empty(); }

 private:
  // Of things that take a byte each, at least.
  std::uint64_t count() {
    const std::uint64_t count = number();
    if (count > bytes_.size()) exec::fail_to_resume();
    return count;
  }
  std::string text() {
    const auto size = static_cast<std::size_t>(count());
    std::string text(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return text;
  }
  std::vector<std::int64_t> held_of(std::uint64_t count, const SavePoint& point) {
    // Numbers that differ take seven bits each and more, where they are more than 64.
    if (count > bytes_.size() + 64 || point.inputs.empty()) exec::fail_to_resume();
    const std::int64_t since = point.inputs.front().since.slots;
    auto numbers = take_rice_coded(bytes_, static_cast<std::size_t>(count));
    if (!numbers) exec::fail_to_resume();
    numbers = flipped(std::move(*numbers), since);
    if (!are_used_up(*numbers, since)) exec::fail_to_resume();
    return *std::move(numbers);
  }

  std::string_view bytes_;
};

}  // namespace

std::string bytes_of(const SavePoint::Input& behind, const exec::Plan& plan) {
  std::string bytes;
  append_varint(bytes, digest_of(plan));
  append_varint(bytes, static_cast<std::uint64_t>(behind.since.errors));
  append(bytes, *behind.at);
  return bytes;
}

SavePoint::Input save_point_of(std::string_view bytes, const exec::Plan& plan) {
  Reader reader(bytes);
  if (reader.number() != digest_of(plan)) return {};
  SavePoint::Input behind;
  behind.since.errors = reader.slots();
  behind.at = reader.node();
  if (!reader.is_at_end()) exec::fail_to_resume();
  return behind;
}

}  // namespace penstock::runtime
