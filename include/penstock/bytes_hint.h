// BytesHint: foretells how much memory a function's result will hold, so that it is reserved before the call and not
// counted after.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <penstock/detail/parameter.h>
#include <penstock/element.h>

#pragma GCC visibility push(default)

namespace penstock {

// Any function from an element to bytes. It should cost little, is called by several threads at once, and must name its
// parameter's type (not `auto`). One that says too little is no error: what is taken beyond it is counted as
// overshoot_bytes.
//
//   const auto rgb_bytes = [](const ps::Tensor& file) {
//     const auto header = ps::image::read_jpeg_header(ps::image::bytes_of(file));
//     return 3 * header.width * header.height;
//   };
//   auto decoded = files.map(decode, ps::AUTOTUNE, {.bytes_hint = rgb_bytes});
class BytesHint {
 public:
  // None: the run learns the sizes from what calls gave before.
  BytesHint() = default;

  template <class F>
  requires(!std::is_same_v<F, BytesHint> && !std::is_void_v<detail::FirstParameterOf<F>>) BytesHint(F function)
      : input_type_(&typeid(Input<F>)), function_([function = std::move(function)](const Element& input) {
          return static_cast<std::size_t>(function(input.get<Input<F>>()));
        }) {}

  explicit operator bool() const noexcept { return function_ != nullptr; }
  std::size_t operator()(const Element& input) const { return function_(input); }
  // Of what the function takes; only if there is one.
  const std::type_info& input_type() const noexcept { return *input_type_; }

 private:
  template <class F> using Input = std::remove_cvref_t<detail::FirstParameterOf<F>>;

  const std::type_info* input_type_ = nullptr;
  std::function<std::size_t(const Element&)> function_;
};

}  // namespace penstock

#pragma GCC visibility pop
