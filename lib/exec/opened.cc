#include "lib/exec/opened.h"

#include <exception>
#include <string>
#include <utility>

namespace penstock::exec {

std::string place_of(const StageLabel& label) {
  return label.op + " (op " + std::to_string(label.position) + (label.call_site.empty() ? "" : " at ") +
         label.call_site + ")";
}

void fail_to_open(const std::string& place) {
  const auto error = std::current_exception();
  throw Error(code_of(error), place + " could not be opened: " + message_of(error));
}

StagePlan::Open with_place(const StagePlan& stage, StagePlan::Open open) {
  return
      [place = place_of(stage.label), open = std::move(open)](std::size_t index, BodyHost& host, PassControl& passes) {
        try {
          return open(index, host, passes);
        } catch (...) {
          fail_to_open(place);
        }
      };
}

}  // namespace penstock::exec
