// What a function throws that fails.
#pragma once

#include <penstock/error.h>
#include <penstock/tensor.h>

#include <cerrno>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tests/support/random_graphs/how.h"
#include "tests/support/random_graphs/payload.h"

namespace random_graphs {

// More than an address space has: the payload pool asks the system for it, and gets nothing.
inline void take_too_much_payload() { ps::Tensor(ps::DType::u8, {std::int64_t{1} << 48}); }

[[noreturn]] inline void throw_fails_on(const Value& value) {
  throw ps::Error(ps::ErrorCode::data_loss, "fails on " + std::to_string(model::key(value)));
}

// What is thrown depends on the value alone. Without How::any_fault it is always the first.
[[noreturn]] inline void throw_fault(const How& how, const Value& value) {
  switch (how.any_fault ? model::floor_mod(model::key(value) / 2, 6) : 0) {
    case 1: throw std::runtime_error("fails on " + std::to_string(model::key(value)));
    case 2: throw 42;
    case 3: throw std::bad_alloc();
    case 4: take_too_much_payload(); [[fallthrough]];  // never
    case 5: throw std::system_error(EIO, std::generic_category(), "a disk");
    default: throw_fails_on(value);
  }
}

}  // namespace random_graphs
