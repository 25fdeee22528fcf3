// Experiment: one op between a feed and a consumer, with what the list model says it must give.
#pragma once

#include <penstock/penstock.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/conformance/case.h"
#include "tests/support/random_graphs/pumped_driver.h"
#include "tests/support/temporary_folder.h"

namespace conformance {

using random_graphs::RunRef;
using Texts = std::vector<std::string>;  // deliveries, as "7", "[7 8]" or "error of ..."

// What a check asks of a dataset. All numbers are source numbers, which count from 0.
struct Settings {
  std::int64_t count = 9;
  model::Modulus source_fails = {};
  model::Modulus function_fails = {};  // of the op itself
  std::uint64_t jitter = 0;
  bool gated = false;
  std::int64_t passes = 1;  // with a repeat behind the op
  bool move_only = false;
  bool pumped = false;  // answers come when the pumped driver says so
};

class Experiment {
 public:
  Experiment(const Case& tested, Settings settings);
  ~Experiment();

  RunRef start(const ps::RunOptions& options) const;
  const ps::graph::NodeRef& node() const { return built_->node; }
  random_graphs::ThreadCourier& courier() { return *courier_; }
  const std::shared_ptr<random_graphs::PumpedCourier>& pumped_courier() const { return pumped_; }
  Gate& gate() { return gate_; }
  const Census& census() const { return *census_; }
  std::size_t results_in(const ps::Element& element) const { return built_->results(element); }

  // The next delivery; nullopt at the end of the epoch. Which of its inputs an op failed on is told
  // with_inputs.
  std::optional<std::string> next(ps::detail::RunCore& run, bool with_inputs = true) const;
  Texts rest(ps::detail::RunCore& run, bool with_inputs = true) const;

  // What must be delivered in an epoch.
  Texts expected(std::uint32_t epoch = 0, bool with_inputs = true) const;

  // How many deliveries are due when the source has given no more than `elements`.
  std::size_t due_after(std::int64_t elements) const;

  // How many tokens are alive once the dataset and everything that waits is gone. The last call.
  std::int64_t alive_after_all();

 private:
  std::vector<Op> model_ops() const;
  std::vector<model::Item> branch(std::size_t number, std::uint32_t epoch) const;
  std::vector<model::Item> merged(std::uint32_t epoch, std::size_t most_of_a_branch) const;
  Texts recorded(std::uint32_t epoch) const;
  std::vector<model::Tape> tapes(std::uint32_t epoch) const;
  std::string text_of(const model::Item& item, bool with_inputs) const;
  bool is_source(int position) const;
  std::string name_of(int position) const;

  const Case& case_;
  const Settings settings_;
  std::vector<Op> ops_;  // of the case, with planted failures
  const CensusRef census_ = std::make_shared<Census>();
  const penstock::test::TemporaryFolder folder_;  // for file lists
  Gate gate_;
  std::shared_ptr<random_graphs::PumpedCourier> pumped_;
  std::optional<random_graphs::ThreadCourier> courier_;
  Feed feed_;
  std::optional<Built> built_;
};

}  // namespace conformance
