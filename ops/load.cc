#include "ops/load.h"

#include <penstock/ops.h>

#include <exception>
#include <utility>

#include "lib/base/text.h"

namespace penstock::ops {

std::string LoadOp::parameters() const { return "path=" + in_quotes(file_->path()); }

std::optional<std::size_t> LoadOp::bytes_hint(const Element& input) const {
  return file_->bytes_of(input.unchecked<std::int64_t>());
}

void LoadOp::run(std::span<Slot> slots, Context& context) const {
  LocalSavedFile::BlockRef last;
  for (std::size_t i = 0; i < slots.size() && context.go_on(i); ++i) {
    Slot& slot = slots[i];
    context.enter(slot);
    try {
      slot.emit(file_->read(std::as_const(slot.value).unchecked<std::int64_t>(), last));
    } catch (...) {
      slot.fail(std::current_exception());
    }
  }
}

OpRef load(detail::SavedFileRef file) {
  return std::make_shared<LoadOp>(std::static_pointer_cast<const LocalSavedFile>(std::move(file)));
}

}  // namespace penstock::ops
