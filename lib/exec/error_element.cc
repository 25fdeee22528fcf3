#include "lib/exec/error_element.h"

#include <exception>
#include <string>
#include <utility>

#include <penstock/error.h>

#include "lib/base/type_name.h"

namespace penstock::exec {
namespace {

std::exception_ptr with_place(Slot& slot, const StageLabel& label, std::int64_t ordinal, const ItemOf& item_of) {
  ErrorPlace place;
  place.op = label.op;
  place.position = label.position;
  place.call_site = label.call_site;
  place.ordinal = ordinal;
  place.source_ordinal = slot.stamp.ordinal;
  place.epoch = slot.stamp.epoch;
  SourceItem item = item_of(slot.stamp);
  if (slot.stamp.ordinal >= 0) place.source_position = item.position;
  place.origin = std::move(item.name);
  return std::make_exception_ptr(ElementError(std::move(place), slot.value.get<std::exception_ptr>()));
}

}  // namespace

void make_error(Slot& slot, const StageLabel& label, std::int64_t ordinal, const ItemOf& item_of) noexcept {
  try {
    slot.value = Element(with_place(slot, label, ordinal, item_of));
  } catch (...) {
  }
  slot.set_kind(Slot::Kind::error);
}

void check_type(const Slot& slot, const std::type_info& wanted) {
  if (slot.value.holds(wanted)) return;
  const std::string given =
      slot.value.empty() ? "an empty element" : "an element of type " + type_name(*slot.value.type());
  throw Error(ErrorCode::invalid_argument,
              "the op gave " + given + ", but the dataset behind it has elements of type " + type_name(wanted) +
                  ": write the type that the op gives, as in then<Type>(op) or merge<Type>(op, ...)");
}

}  // namespace penstock::exec
