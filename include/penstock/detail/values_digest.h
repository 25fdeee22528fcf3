// The values that a source is made of, as far as checkpoints compare them: a list of other files is another pipeline,
// though it has as many.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::detail {

// 16 hexadecimal digits: lists that differ by chance have the same once in 2^64 times. Strings without this at their
// beginning, as of a folder that may be elsewhere tomorrow. Some 50 ns a string.
std::string digest_of(std::span<const std::string> values, std::string_view without = {});
std::string digest_of_bytes(std::string_view bytes);

template <class T>
constexpr bool has_digest_of_bytes = std::is_arithmetic_v<T> && !std::same_as<T, bool> && !std::same_as<T, long double>;

// "" for what is neither text nor numbers.
template <class T> std::string digest_of_values(const std::vector<T>& values) {
  if constexpr (std::same_as<T, std::string>) {
    return digest_of(values);
  } else if constexpr (has_digest_of_bytes<T>) {
    return digest_of_bytes({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  } else {
    return {};
  }
}

}  // namespace penstock::detail

#pragma GCC visibility pop
