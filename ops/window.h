// window(size): elements that are near each other, together. Documented at Dataset::window.
//
// Window k begins at position k * shift and has size positions, stride apart. Positions are those of elements and of
// errors, so where a window lies depends on nothing but the number of what came before. An error is told once, in its
// place, if a window has that position; windows go on without it.
#pragma once

#include <penstock/detail/gather.h>
#include <penstock/op.h>
#include <penstock/options.h>

namespace penstock::ops {

class WindowOp final : public StreamOp {
 public:
  // Error(invalid_argument) if a number is below 1, if a window reaches further than 2^61 positions, or if windows
  // overlap and elements cannot be copied.
  WindowOp(std::int64_t size, detail::GathererFactoryRef factory, const WindowOptions& options);
  std::string name() const override { return "window"; }
  std::string parameters() const override;
  Flow flow(const Flow& input) const override;
  bool form_is_known() const override { return true; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  std::int64_t elements_held() const override;
  std::int64_t bytes_of_place() const override { return sizeof(Slot) + sizeof(std::int64_t); }

 private:
  std::int64_t reach() const { return (size_ - 1) * stride_ + 1; }  // from its first position to its last one

  std::int64_t size_, shift_, stride_;
  bool drop_remainder_;
  detail::GathererFactoryRef factory_;
};

}  // namespace penstock::ops
