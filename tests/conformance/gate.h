// Gate: holds elements back until the test lets them through, one by one and without a thread.
#pragma once

#include <penstock/op.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace conformance {

namespace ps = penstock;

// Any thread.
class Gate {
 public:
  // `place`: which of the elements of the run, or of its branch, it is.
  void arrive(std::int64_t place, ps::Element element, ps::Completion completion);

  // From now on the elements up to `places` pass.
  void open_for(std::int64_t places);

  // Lets go of everything that waits, unanswered.
  void clear();

 private:
  using Waiting = std::pair<ps::Element, ps::Completion>;

  std::mutex mutex_;  // both below; never held while a Completion is answered or destroyed
  std::multimap<std::int64_t, Waiting> waiting_;
  std::int64_t open_ = 0;
};

}  // namespace conformance
