// Checkpoint: where a run stands, to go on from there in another run, thread or (later) process.
//
// It is taken at the last element that was *delivered*: what the engine has read ahead is not in it. It holds positions and
// counters only, well under 1 KiB, whatever the elements' sizes. Tuned numbers and thread counts are not part of it: a
// checkpoint may go on with others. It refuses another pipeline, naming the first difference.
//
//   auto saved = std::make_shared<ps::Checkpoint>(run.checkpoint());
//   auto again = train.start({.resume_from = saved});       // delivers exactly what `run` delivers next
#pragma once

#include <cstdint>
#include <string>

#include <penstock/op.h>

namespace penstock {

class Checkpoint {
 public:
  // position: goes on at a place in the source at once. replay: runs the epoch again from its start and leaves out what was
  // delivered; used where an op's state cannot be told from a position (a shuffle over a stream, a take behind a map).
  enum class Kind : std::uint8_t { position, replay };

  Kind kind = Kind::replay;
  std::string pipeline;          // describe() without call sites
  std::uint32_t epoch = 0;
  std::int64_t delivered = 0;    // elements and errors of this epoch that the consumer has had
  bool epoch_ended = false;      // its end has been delivered, too
  bool has_last = false;
  Stamp last;                    // of the last element delivered
  std::int64_t errors_since = 0; // errors delivered after it
};

}  // namespace penstock
