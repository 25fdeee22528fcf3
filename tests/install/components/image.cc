// Pictures without pipelines: a resized tensor, and a JPEG that is none. Prints "passed", or what is wrong.
#include <penstock/image.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>

namespace ps = penstock;

int main() {
  ps::Tensor picture(ps::DType::u8, {40, 30, 3});
  for (std::uint8_t& value : picture.values<std::uint8_t>()) value = 100;
  const ps::Tensor half = ps::image::resize_bilinear(ps::image::view_of(picture), {20, 15});
  for (const std::uint8_t value : half.values<std::uint8_t>())
    if (value != 100) std::cout << "wrong: a value is " << int{value} << '\n';

  try {
    ps::image::decode_jpeg(std::array<std::byte, 4>{});
    std::cout << "wrong: nothing was decoded\n";
  } catch (const ps::Error&) {
    std::cout << "passed\n";
  }
}
