#include "tests/conformance/check.h"

#include <algorithm>
#include <array>

#include "tests/support/environment.h"

namespace conformance {
namespace {

std::string applies(const Case&) { return ""; }

std::string not_to_a_source(const Case& tested) {
  return tested.traits.place == Place::source ? "nothing comes before a source" : "";
}

std::string only_to_streams(const Case& tested) {
  if (tested.traits.place == Place::positions)
    return "positions are chosen before anything is read: there is nothing to wait for";
  return not_to_a_source(tested);
}

std::string only_where_something_can_fail(const Case& tested) {
  const bool can = tested.traits.place != Place::source || tested.traits.calls_function;
  return can ? "" : "its elements are there already: none can fail";
}

std::string only_where_order_is_kept(const Case& tested) {
  return tested.is_arbitrary() ? "no order, so nothing is the rest" : "";
}

std::string only_what_can_move(const Case& tested) { return tested.traits.only_copyable; }

constexpr std::array kChecks{
    Check{"declares", check_declarations, applies},
    Check{"serial", check_serial, applies},
    Check{"threads", check_threads, applies},
    Check{"jitter", check_jitter, not_to_a_source},
    Check{"gate", check_gate, only_to_streams},
    Check{"cancel", check_cancellation, applies},
    Check{"errors", check_errors, only_where_something_can_fail},
    Check{"checkpoint", check_checkpoints, only_where_order_is_kept},
    Check{"move-only", check_move_only, only_what_can_move},
    Check{"few", check_few_elements, applies},
    Check{"end twice", check_end_twice, applies},
    Check{"knobs", check_knobs, applies},
    Check{"budget", check_budget, applies},
    Check{"passes", check_passes, applies},
};

std::string at(const Texts& texts, std::size_t i) { return i < texts.size() ? texts[i] : "the end"; }

}  // namespace

void Findings::compare(const std::string& when, Texts got, Texts expected, bool any_order) {
  if (any_order) {
    std::ranges::sort(got);
    std::ranges::sort(expected);
  }
  if (got == expected) return;
  std::size_t i = 0;
  while (at(got, i) == at(expected, i)) ++i;
  add(when + ": delivery " + std::to_string(i) + " is " + at(got, i) + ", must be " + at(expected, i));
}

void Findings::expect_equal(const std::string& what, std::int64_t got, std::int64_t expected) {
  if (got != expected) add(what + " is " + std::to_string(got) + ", must be " + std::to_string(expected));
}

std::span<const Check> all_checks() { return kChecks; }

std::vector<std::string> findings_of(const Check& check, const Case& tested) {
  Findings findings;
  try {
    check.run(tested, findings);
  } catch (const std::exception& error) {
    findings.add(std::string("threw: ") + error.what());
  }
  return findings.all();
}

std::uint64_t rounds() {
  if (penstock::test::is_on("PENSTOCK_SMALL")) return 1;
  return penstock::test::is_on("PENSTOCK_FULL") ? 40 : 4;
}

}  // namespace conformance
