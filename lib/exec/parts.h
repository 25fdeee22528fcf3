// Parts: groups that leave the ring in parts. What is done leaves before its call returns, and what is not begun comes
// back.
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

  // Before a call over several slots: from here on others may look at it. What one call makes of one slot cannot be had
  // in parts.
  void open(Group& group);

  // The first results that may leave now though their call goes on, as a group in front of that one; null: there are
  // none.
  Group* take();
  // What the call gave back becomes the next group.
  void take_back(Group& group, Cancellation& cancellation);
  // Of a call that goes on: what it has done.
  Slots answers_of(Group& group) const;
  // Inputs of a part, before its results are sealed, that were run: a source's are what it made, a stream op's are
  // counted when its call ends.
  std::int64_t inputs_of(const Group& part) const;

 private:
  std::unique_ptr<Group> take_of(Group& group);

  const StageTraits& traits_;
  StageSigns& signs_;
  const std::unique_ptr<Body>& body_;
  Ring& ring_;
};

}  // namespace penstock::exec
