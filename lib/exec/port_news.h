// PortNews: what others get to know of a merge's inputs while it does not run (MergeSigns), and of which inputs that is
// news.
//
// There may be a thousand inputs, and slots of a few in each run: a run costs what it takes, not what there is. To ask
// the state which inputs are read soon is the exception: it is done after as many steps as there are inputs, by four,
// and as soon as one has ended.
//
// Thread safety: changes() by the run, or with the stage's lock held while there is none, as begin_run(); the rest by
// the one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/stage_signs.h"

namespace penstock::exec {

class PortNews {
 public:
  explicit PortNews(std::size_t ports);

  void use_signs(MergeSigns& signs) { signs_ = &signs; }
  void begin_run() noexcept;  // what was news is known

  void take(std::size_t port) {  // one slot
    ++ports_[port].untold;
    note(port);
  }
  void count_step() noexcept { ++steps_; }  // of the state: a slot, or something else that it was asked
  void ask_of_all() noexcept { steps_ = ports_.size(); }

  void tell_of_taken(std::size_t port);
  // The run is over, and this is wanted.
  void tell(const Want& wanted, const MergeState& state);
  // Inputs of which something was taken in this run, or has been told.
  const std::vector<std::size_t>& changes() const noexcept { return changes_; }

 private:
  struct Port {
    std::int64_t untold = 0;  // slots taken, not yet out of PortSigns::occupied
    bool is_noted = false;    // among the changes
  };

  void note(std::size_t port);
  void tell_of_wanted(std::int64_t wanted);
  void tell_of_soon(const MergeState& state, std::size_t first, std::size_t count);

  std::vector<Port> ports_;
  std::vector<std::size_t> changes_;
  MergeSigns* signs_ = nullptr;
  std::size_t steps_ = 0;  // since the state was asked of all inputs
};

}  // namespace penstock::exec
