#include "lib/runtime/resumable.h"

#include <algorithm>
#include <string>

#include <penstock/error.h>

#include "lib/base/text.h"
#include "lib/exec/pass_control.h"
#include "lib/runtime/checkpoint.h"

namespace penstock::runtime {
namespace {

// The line that the byte belongs to; a line's end belongs to it.
std::string line_at(const std::string& text, std::size_t place) {
  const std::size_t start = place == 0 ? 0 : text.rfind('\n', place - 1) + 1;
  const std::string line = text.substr(start, text.find('\n', start) - start);
  return line.empty() ? "nothing" : in_quotes(line);
}

// What to do where these lines differ.
const char* advice(const std::string& theirs, const std::string& ours) {
  const auto both_say = [&](const char* what) {
    return theirs.find(what) != theirs.npos && ours.find(what) != ours.npos;
  };
  if (theirs != ours && both_say(" (drawn)"))
    return "Give the shuffle a seed, as in shuffle(n, {.seed = 7}): without one, each dataset draws its own";
  const std::string op = theirs.substr(0, theirs.find('('));
  if (theirs.find("digest=") != theirs.npos && ours.starts_with(op + "("))
    return "The list has other elements now, or in another order: resume with the one that it was taken of";
  return "Resume with the pipeline it was taken of";
}

// Error(failed_precondition) naming the first line in which the descriptions differ.
void check_same_pipeline(const std::string& saved, const std::string& here) {
  if (saved == here) return;
  const auto place = static_cast<std::size_t>(std::ranges::mismatch(saved, here).in1 - saved.begin());
  const std::string theirs = line_at(saved, place), ours = line_at(here, place);
  const std::string difference =
      theirs == ours ? "one ends behind " + ours + ", the other does not" : theirs + " there, " + ours + " here";
  throw Error(ErrorCode::failed_precondition,
              "this checkpoint was taken of another pipeline. The first difference is: " + difference + ". " +
                  advice(theirs, ours));
}

// What can be known of a position before anything is read.
void check_position(const Checkpoint& from, const exec::Plan& plan, std::uint32_t first_pass) {
  if (from.kind != Checkpoint::Kind::position || !from.has_last) return;
  exec::PassControl passes(plan.repeats(), from.epoch, 1);
  passes.number_from(first_pass);
  passes.wind_to(from.last.pass);
  const IndexedSource* const source = plan.sources.front().items;
  if (source == nullptr || from.last.ordinal < source->size()) return;
  throw Error(ErrorCode::data_loss,
              "this checkpoint stands behind element " + std::to_string(from.last.ordinal) +
                  " of the source, which has only " + std::to_string(source->size()) +
                  " elements. Resume with the input that it was taken of, or start the epoch anew");
}

}  // namespace

void check_can_resume(const Checkpoint& from, const exec::Plan& plan, std::uint32_t first_pass) {
  check_same_pipeline(from.pipeline, plan.text);
  check_made_by_a_run(from);
  const auto kind = plan.resumes_by_position ? Checkpoint::Kind::position : Checkpoint::Kind::replay;
  if (from.kind != kind) {
    throw Error(
        ErrorCode::failed_precondition,
        std::string("this checkpoint was taken by another version of penstock: this one resumes the pipeline ") +
            (plan.resumes_by_position ? "by position" : "by replay") + ". Start the epoch anew");
  }
  if (from.delivered > 0 && !from.epoch_ended) check_has_place(plan);
  check_position(from, plan, first_pass);
}

void check_has_place(const exec::Plan& plan) {
  if (plan.arbitrary_stage == 0) return;
  const exec::StagePlan& stage = plan.stages[plan.arbitrary_stage];
  throw Error(ErrorCode::failed_precondition, "elements leave " + stage.label.op + " (op " +
                                                  std::to_string(stage.label.position) + ", " + stage.label.call_site +
                                                  ") in arbitrary order: how many of an epoch were delivered does not "
                                                  "tell which. Take the checkpoint at an epoch's "
                                                  "end, or keep the order");
}

}  // namespace penstock::runtime
