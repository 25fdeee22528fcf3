// The cases of all ops, and the one that belongs to a kind.
#pragma once

#include <stdexcept>

#include "tests/ops/cases.inc"

namespace op_cases {

// What use() makes of the case: an empty object of its type.
template <class Use> auto with_case(Kind kind, Use use) {
  switch (kind) {
#define PENSTOCK_OP(name) \
  case Kind::name:        \
    return use(op_cases::name{});
#include "tests/ops/names.inc"
#undef PENSTOCK_OP
  }
  throw std::logic_error("no such op");
}

inline std::vector<Kind> all_kinds() {
  return {
#define PENSTOCK_OP(name) Kind::name,
#include "tests/ops/names.inc"
#undef PENSTOCK_OP
  };
}

inline bool is_source(Kind kind) {
  return with_case(kind, []<class Case>(Case) { return Case::kIsSource; });
}

}  // namespace op_cases
