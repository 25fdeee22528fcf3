// What an op's open() gives, and how it is told whose it is where it fails.
#pragma once

#include <memory>
#include <string>

#include <penstock/error.h>

#include "lib/exec/stage_plan.h"

namespace penstock::exec {

// The same; Error(unimplemented) where it is null, as it is of an op that does not override what it must.
template <class Opened> std::unique_ptr<Opened> opened(std::unique_ptr<Opened> given) {
  if (given != nullptr) return given;
  throw Error(ErrorCode::unimplemented,
              "open() gave a null pointer: override it, and give an object for the run to work with");
}

// Where a step stands in the user's code: "mine (op 1 at train.cc:12)".
std::string place_of(const StageLabel& label);

// Throws what has just been thrown by an op's open(), with its place.
[[noreturn]] void fail_to_open(const std::string& place);

// What an op's open() throws belongs to no element, and ends every request of the run: it is to say whose it is.
StagePlan::Open with_place(const StagePlan& stage, StagePlan::Open open);

}  // namespace penstock::exec
