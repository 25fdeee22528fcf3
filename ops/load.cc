#include "ops/load.h"

#include <penstock/error.h>
#include <penstock/ops.h>

#include <memory>
#include <utility>

#include "lib/base/text.h"
#include "ops/saved_file.h"

namespace penstock::ops {
namespace {

// A reader for as long as a call has one. One that has failed is not given back: the next one opens the file anew.
class Borrowed {
 public:
  explicit Borrowed(const detail::SavedFile& file) : file_(file) {}
  ~Borrowed() {
    if (reader_) file_.give_back(std::move(reader_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  Element read(std::int64_t element) {
    if (element < 0 || element >= file_.size())
      throw Error(ErrorCode::invalid_argument, in_quotes(file_.path()) + " has no element " + std::to_string(element) +
                                                   ", but those from 0 to " + std::to_string(file_.size() - 1));
    auto reader = reader_ ? std::move(reader_) : file_.take_reader(element);
    reader->go_to(static_cast<std::uint64_t>(element));
    Element value = std::move(reader->next(file_.codec())->value);
    reader_ = std::move(reader);
    return value;
  }

 private:
  const detail::SavedFile& file_;
  std::unique_ptr<CacheFileReader> reader_;
};

}  // namespace

std::string LoadOp::parameters() const { return "path=" + in_quotes(file_->path()); }

std::optional<std::size_t> LoadOp::bytes_hint(const Element& input) const {
  return file_->bytes_of(input.unchecked<std::int64_t>());
}

void LoadOp::run(std::span<Slot> slots, Context& context) const {
  Borrowed reader(*file_);
  for (std::size_t i = 0; i < slots.size() && context.go_on(i); ++i) {
    Slot& slot = slots[i];
    context.enter(slot);
    try {
      slot.emit(reader.read(std::as_const(slot.value).unchecked<std::int64_t>()));
    } catch (...) {
      slot.fail(std::current_exception());
    }
  }
}

OpRef load(detail::SavedFileRef file) { return std::make_shared<LoadOp>(std::move(file)); }

}  // namespace penstock::ops
