#include "lib/exec/opened.h"

#include <exception>
#include <string>
#include <utility>

namespace penstock::exec {

std::string place_of(const StagePlan& stage) {
  const StageLabel& label = stage.label;
  return label.op + " (op " + std::to_string(label.position) + (label.call_site.empty() ? "" : " at ") +
         label.call_site + ")";
}

StagePlan::Open with_place(const StagePlan& stage, StagePlan::Open open) {
  return [place = place_of(stage), open = std::move(open)](std::size_t index, BodyHost& host, PassControl& passes) {
    try {
      return open(index, host, passes);
    } catch (...) {
      const auto error = std::current_exception();
      throw Error(code_of(error), place + " could not be opened: " + message_of(error));
    }
  };
}

}  // namespace penstock::exec
