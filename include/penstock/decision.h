// Decision: one move of a knob by the controller, and why.
#pragma once

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace penstock {

// Why a knob was moved. In brackets: what the controller saw.
enum class Reason : std::uint8_t {
  remembered,  // RunOptions::warm_start: an earlier run ended there
  waits,       // [calls give up the CPU] a stage goes to the pool of threads for blocking calls
  computes,    // [calls use the CPU] and comes back
  // [all calls under way, none finished, the consumer waits] double; also the first calls of a stage that goes to the
  // pool
  slow_start,
  feed_forward,      // [rates and times are known] Little's law: calls in flight = rate x time of a call
  integral,          // [consumer waits, all calls under way, cores free] a little more than the law says
  knee,              // [more calls made each slower, and no more came out] a device or lock is at its limit
  trim_probe,        // would fewer do?
  up_probe,          // would more do, by now?
  restore,           // a probe cost speed: back
  idle,              // [fewer would do, for three samples in a row] give them back
  byte_limit,        // memory for no more
  cpu_limit,         // CPU slots for no more
  io_limit,          // RunOptions::open_io for no more
  starved_consumer,  // [it found nothing ready, while results had no room before] deeper; workers give way no longer
  burst,             // [it takes many at once] as deep as its bursts
  drained,           // [a buffer never runs low] shallower
  reordering,        // room for the slowest calls, so that the others go on beside them
  consumer_slowed,   // [its own thread computes, and is served] workers give way, so that they do not slow it
  rule,              // of another policy than penstock's own
};

// "feed_forward"
const char* name_of(Reason reason) noexcept;

// from -> to; `wanted` differs from `to` where a limit held it back.
struct Decision {
  std::int64_t time_ns = 0;      // since the run began
  int stage = -1;                // index into Snapshot::stages; -1: of the sink or the whole run
  std::string knob;              // Knob::name
  std::int64_t from = 0;         // the knob's value before,
  std::int64_t to = 0;           // and after the move
  std::int64_t wanted = 0;       // what the controller would have set without a limit
  Reason reason = Reason::rule;  // why it moved
};

}  // namespace penstock

#pragma GCC visibility pop
