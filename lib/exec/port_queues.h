// PortQueues: what has come to the inputs of a merge, and in which pass each of them is.
//
// The merge is in one pass, and each input is somewhere: in that pass, behind its end (then it waits), or still in an
// earlier one: then all that it brings is left out, and its branch is asked to end that pass. It is asked again with
// each mark by which it is still behind, since the first request may have come too early: a pass that has not begun
// cannot be ended. Who is where is known by odometers that turn with each mark (odometer.h).
//
// Thread safety: arrive(), take_arrivals(), has_arrivals() and let_go() with the stage's lock held; the rest by the one
// run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "lib/exec/body.h"
#include "lib/exec/odometer.h"
#include "lib/exec/port_news.h"
#include "lib/exec/save_point.h"
#include "lib/exec/stage_plan.h"

namespace penstock::exec {

class PortQueues {
 public:
  // `stage`: the merge's number, by which the host knows its inputs. `digits`: repeats further down.
  PortQueues(std::size_t stage, const std::vector<PortPlan>& ports, std::size_t digits, BodyHost& host);

  PortNews& news() noexcept { return news_; }
  void arrive(std::size_t port, Slots&& slots);
  bool has_arrivals() const noexcept { return !arrived_.empty(); }
  bool let_go(Slots& to, bool is_running) noexcept;  // see Body
  std::int64_t take_arrivals();                      // returns their bytes
  std::int64_t held_bytes() const noexcept { return held_bytes_; }
  std::size_t size() const noexcept { return ports_.size(); }
  std::size_t waiting() const noexcept { return waiting_; }  // slots in the queues, ends of passes among them

  // Whether the next slot of this pass is there. What is left of earlier passes goes.
  bool has_slot(std::size_t number) { return is_ready(ports_[number]) || pass_earlier(number); }
  // Whether the input is behind this pass; has_slot() is false.
  bool has_ended(std::size_t number) const { return ports_[number].at > at_; }
  Slot pop(std::size_t number);

  // What the inputs give from now on is wanted of the pass behind a mark of this level, in this round.
  void go_on_to(std::size_t level, std::uint64_t round);
  // Of inputs that run once: they do, once more. Before the first time they stand still.
  void run_inputs();
  // Those that are in a pass before the merge's: a pass may never end by itself. Where a resumed run begins.
  void ask_all_to_catch_up();
  // Also where an input is not wanted for long: elements may hold what somebody waits for.
  void let_go_of_earlier_passes();

  // What a save point of the merge says of its inputs: their own save points, with what was taken behind these. One
  // that has come to the end of the merge's pass is at its end again, however much comes of that pass.
  std::vector<SavePoint::Input> save(StateWriter& out);
  bool has_saved() const noexcept { return has_saved_; }  // since then a save point of an input has come
  // To go on in the pass with these digits. Before anything arrives. Throws Error(data_loss).
  std::vector<SavePointRef> resume_from(const SavePoint& here, StateReader& in, std::vector<std::int64_t> digits);
  bool has_missed() const noexcept { return missed_; }

 private:
  struct Port {
    Port(const PortPlan& plan, std::size_t digits)
        : depth(plan.depth), keeps_numbers(plan.keeps_numbers), at(digits), saved_at(digits) {}

    std::size_t depth;
    bool keeps_numbers;
    Queue<Slots> arrived;        // since the last run; with the stage's lock held
    Queue<Slots> queue;          // not used up
    std::size_t taken = 0;       // slots already taken from queue.front()
    Odometer at;                 // the pass of what comes next
    bool is_in_pass = true;      // that is the merge's: compared once a pass, not with each slot
    std::uint64_t sequence = 0;  // of that pass, in its branch

    SavePointRef save_point;  // the last one that has come; null: the beginning of the epoch
    Odometer saved_at;        // the pass that it stands in
    SlotCount since;          // taken of the present pass, behind the save point if that is in this pass
    LeftOut again;            // what had been taken of the merge's pass when a run was resumed,
    bool skips_pass = false;  // or all of it
  };

  static bool is_ready(const Port& port) {
    return port.is_in_pass && !port.again.goes_on() && !port.skips_pass && !port.queue.empty() &&
           port.queue.front()[port.taken].is_item();
  }
  void leave_out(Port& port, const Slot& slot);
  bool pass_earlier(std::size_t number);
  void pass_mark(std::size_t number, const Slot& mark);
  void ask_to_catch_up(std::size_t number);

  const std::size_t stage_;
  BodyHost& host_;
  std::deque<Port> ports_;
  std::vector<std::size_t> arrived_;  // ports with arrivals
  PortNews news_;
  Odometer at_;                  // the pass of what the merge gives next
  std::int64_t held_bytes_ = 0;  // of what is in the queues
  std::size_t waiting_ = 0;
  std::uint32_t runs_ = 0;  // of inputs that run once
  bool has_saved_ = false;
  std::atomic<bool> missed_{false};
};

}  // namespace penstock::exec
