#include "tests/support/random_graphs/comparison.h"

#include <algorithm>

namespace random_graphs {

using model::Item;
using model::Kind;

std::string text_of(const Value& value) {
  if (!value.is_list) return std::to_string(value.number);
  std::string text = "[";
  for (const Value& row : value.rows) text += (text.size() > 1 ? " " : "") + text_of(row);
  return text + "]";
}

std::string text_of(const Delivery& delivery) {
  if (!delivery.failed) return text_of(delivery.value);
  const ps::ErrorPlace& place = delivery.place;
  return "error of op " + std::to_string(place.position) + " (" + place.op + "), input " +
         std::to_string(place.ordinal) + ", source " + std::to_string(place.source_ordinal) + " '" + place.origin +
         "', epoch " + std::to_string(place.epoch) + ": " + delivery.cause;
}

std::string Comparison::text_of(const Item& item) const {
  if (!item.failed()) return random_graphs::text_of(item.value);
  const char* name = model::name_of(graph.ops[static_cast<std::size_t>(item.failed_op)].kind);
  return "error of op " + std::to_string(item.failed_op) + " (" + name + "), input " + std::to_string(item.input) +
         ", source " + std::to_string(item.origin.ordinal) + ", epoch " + std::to_string(item.origin.epoch) + ": " +
         (item.cause.empty() ? "any text" : item.cause);
}

// Which input of an epoch it was depends on read-ahead where passes are cut short, and on luck
// where the order is free.
bool Comparison::counts_are_certain() const {
  return !graph.arbitrary &&
         std::ranges::none_of(graph.ops, [](const model::Op& op) { return op.kind == Kind::repeat; });
}

bool Comparison::is_same_place(const Item& item, const ps::ErrorPlace& place) const {
  const model::Op& op = graph.ops[static_cast<std::size_t>(item.failed_op)];
  const std::int64_t source = item.origin.ordinal;
  const bool is_file = graph.ops[0].kind == Kind::from_file_list;
  const bool has_inputs = item.failed_op > 0;
  if (with_inputs && has_inputs && counts_are_certain() && place.ordinal != item.input) return false;
  return place.op == model::name_of(op.kind) && (!with_positions || place.position == item.failed_op) &&
         place.source_ordinal == source && place.epoch == item.origin.epoch &&
         place.origin == (is_file ? bench.path(graph.ops[0], source) : "");
}

bool Comparison::is_same(const Item& item, const Delivery& got) const {
  if (item.failed() != got.failed) return false;
  if (!item.failed()) return item.value == got.value;
  return (item.cause.empty() || item.cause == got.cause) && is_same_place(item, got.place);
}

// Items [begin, end) in any order; got[0] belongs to items[begin].
void Comparison::check_group(const Items& items, std::size_t begin, std::size_t end,
                             std::span<const Delivery> got) const {
  std::vector<bool> used(end - begin, false);
  for (std::size_t i = 0; i < std::min(got.size(), end - begin); ++i) {
    // An item that takes any text must not be used up by what another item asks for.
    std::size_t at = end;
    for (std::size_t k = begin; k < end; ++k) {
      if (used[k - begin] || !is_same(items[k], got[i])) continue;
      if (at == end || items[at].cause.empty()) at = k;
    }
    if (at == end)
      throw Failure("delivery " + std::to_string(begin + i) + ": got " + random_graphs::text_of(got[i]) +
                    ", expected " + text_of(items[begin + i]) +
                    (end - begin > 1 ? " or a neighbour whose order is free" : ""));
    used[at - begin] = true;
  }
}

void Comparison::check(const Items& items, std::span<const Delivery> got, std::size_t from, bool to_the_end) const {
  for (std::size_t begin = from; begin < items.size();) {
    std::size_t end = begin + 1;
    while (end < items.size() && items[begin].group > 0 && items[end].group == items[begin].group) ++end;
    check_group(items, begin, end, got.subspan(std::min(begin - from, got.size())));
    begin = end;
  }
  const std::size_t left = items.size() - from;
  if (got.size() > left)
    throw Failure("expected the end after " + std::to_string(items.size()) + " deliveries, got " +
                  random_graphs::text_of(got[left]));
  if (to_the_end && got.size() < left)
    throw Failure("the end came at delivery " + std::to_string(from + got.size()) + ", expected " +
                  text_of(items[from + got.size()]));
}

}  // namespace random_graphs
