// Parts: groups that leave the ring in parts. Results that are done leave before their call returns, and inputs that it
// has not begun come back.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <cstdint>
#include <memory>

#include "lib/exec/body.h"
#include "lib/exec/cancellation.h"
#include "lib/exec/ring.h"
#include "lib/exec/stage_signs.h"

namespace penstock::exec {

class Parts {
 public:
  Parts(const StageTraits& traits, StageSigns& signs, const std::unique_ptr<Body>& body, Ring& ring)
      : traits_(traits), signs_(signs), body_(body), ring_(ring) {}

  // Before a call begins: opens it (OpenCall) if it has several slots, so that others may look at it. The results of a
  // single slot cannot leave in parts.
  void open(Group& group);

  // The first results that may leave now while their call goes on, as a new group in front of the call's group; null:
  // there are none.
  Group* take();
  // The same of a nest: in no place of the ring, and its slots are to be added to those of `owner` (Lanes::add_part).
  std::unique_ptr<Group> take_of_nest(Group*& owner);
  // The inputs that the call gave back (group.rest) become the next group.
  void take_back(Group& group, Cancellation& cancellation);
  // Takes out of a call that goes on what it has answered so far.
  Slots answers_of(Group& group) const;
  // How many inputs of a part were run, asked before its results are sealed. For a source: the elements that it made.
  // For a stream op 0, since its inputs are counted when its call ends.
  std::int64_t inputs_of(const Group& part) const;

 private:
  std::size_t slots_of(const Group& group) const;
  std::unique_ptr<Group> take_of(Group& group);

  const StageTraits& traits_;
  StageSigns& signs_;
  const std::unique_ptr<Body>& body_;
  Ring& ring_;
};

}  // namespace penstock::exec
