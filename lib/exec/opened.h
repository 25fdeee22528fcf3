// What an op's open() gives.
#pragma once

#include <memory>

#include <penstock/error.h>

namespace penstock::exec {

// The same; Error(unimplemented) where it is null, as it is of an op that does not override what it must.
template <class Opened> std::unique_ptr<Opened> opened(std::unique_ptr<Opened> given) {
  if (given != nullptr) return given;
  throw Error(ErrorCode::unimplemented,
              "open() gave a null pointer: override it, and give an object for the run to work with");
}

}  // namespace penstock::exec
