// Check: one column of the suite.
#pragma once

#include <penstock/options.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/experiment.h"

namespace conformance {

// What a check has found to be wrong with an op.
class Findings {
 public:
  void add(std::string finding) { findings_.push_back(std::move(finding)); }

  // Both must be the same; where the order is free, the same in some order.
  void compare(const std::string& when, Texts got, Texts expected, bool any_order = false);
  void expect_equal(const std::string& what, std::int64_t got, std::int64_t expected);

  bool empty() const { return findings_.empty(); }
  const std::vector<std::string>& all() const { return findings_; }

 private:
  std::vector<std::string> findings_;
};

struct Check {
  const char* name;
  void (*run)(const Case&, Findings&);
  // Why it does not apply to this op; "" if it does.
  std::string (*not_applicable)(const Case&);
};

std::span<const Check> all_checks();

// Of one check; what it throws is a finding, too.
std::vector<std::string> findings_of(const Check& check, const Case& tested);

// How often what is drawn is drawn anew: 4 times; 40 where PENSTOCK_FULL is 1, once where PENSTOCK_SMALL is.
std::uint64_t rounds();

// ------------------------------------------------------------------------------------------------
// the checks, by file

void check_declarations(const Case&, Findings&);  // declared.cc

void check_serial(const Case&, Findings&);  // results.cc
void check_threads(const Case&, Findings&);
void check_jitter(const Case&, Findings&);
void check_move_only(const Case&, Findings&);
void check_few_elements(const Case&, Findings&);
void check_end_twice(const Case&, Findings&);
void check_knobs(const Case&, Findings&);
void check_budget(const Case&, Findings&);
void check_passes(const Case&, Findings&);

void check_gate(const Case&, Findings&);  // stopping.cc
void check_cancellation(const Case&, Findings&);
void check_checkpoints(const Case&, Findings&);

void check_errors(const Case&, Findings&);  // errors.cc

}  // namespace conformance
