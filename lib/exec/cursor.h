// Cursor: a dataset that is read by whoever wants its elements, on the thread that asks: no stage, no buffer, no lock.
// What a function has made at run time is read so (interleave): one cursor for each op, each the owner of those before.
//
//   while (cursor->pull(slots, 64, call)) {}
//
// Ops are used through the interfaces that they have for stages (op.h). Stamps and errors are those of a run of the
// dataset by itself; InnerDataset makes them part of the run that it is read in.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#include <penstock/context.h>

#include "lib/core/pass_number.h"
#include "lib/exec/packet.h"
#include "lib/exec/stage_plan.h"
#include "lib/graph/node.h"

namespace penstock::exec {

// A pass, as PassControl numbers them.
struct PassKey {
  std::uint32_t epoch = 0;
  std::uint32_t base = 0;    // of the run around
  std::uint32_t rounds = 0;  // of the repeats behind the cursor

  std::uint32_t number() const noexcept { return base + rounds; }
  PassKey within(std::int64_t round) const noexcept { return {epoch, base, pass_within(rounds, round)}; }
  Stamp stamp() const noexcept {
    Stamp stamp;
    stamp.epoch = epoch;
    stamp.pass = number();
    stamp.ordinal = -1;
    return stamp;
  }
};

// The op that a cursor runs.
struct CursorOp {
  const graph::Node* node;      // the InnerDataset keeps it
  int number;                   // in the dataset's graph
  const std::type_info* gives;  // the type that its results must have; null: it is known to be right
};

class Cursor;

// Where the elements of a dataset begin.
struct CursorSources {
  std::vector<SourcePlan> plans;
  std::vector<const Cursor*> cursors;

  SourceItem item(const Stamp& stamp) const;
};

// What a call lends to the cursors of one dataset.
class CursorCall final : private detail::ContextServices {
 public:
  // `call`: of the op that reads them. `stop`: set where that is unwanted, for sources that wait. `seed`: of their
  // random numbers. All of it outlives this.
  CursorCall(Context& call, const std::stop_token& stop, std::uint64_t seed, const CursorSources& sources) noexcept
      : call_(call), stop_(stop), seed_(seed), sources_(sources) {}

  Context context_of(const CursorOp& op) noexcept {
    return {stop_, mix64(seed_ + static_cast<std::uint64_t>(op.number)), this};
  }
  const std::stop_token& stop_token() const noexcept { return stop_; }
  // For what the op has given: looks at its type, and if it failed notes its place. `ordinal`: which input of the op
  // failed in its pass, -1: none.
  void finish(Slot& slot, const CursorOp& op, std::int64_t ordinal) noexcept;
  // For what the op may keep: notes its bytes. An element fails whose bytes_of throws.
  void measure(Slot& slot, const CursorOp& op, std::int64_t ordinal) noexcept;
  void count_dropped(std::int64_t errors) noexcept override { call_.count_dropped(errors); }

 private:
  // What is made inside of an element of a file is of that file.
  std::string origin(const Stamp& stamp) const override {
    std::string name = sources_.item(stamp).name;
    return name.empty() ? call_.origin() : name;
  }
  bool try_reserve(std::int64_t bytes, bool may_refuse) override;
  void place_failure(Slot& slot, const CursorOp& op, std::int64_t ordinal) noexcept;
  bool is_unwanted(bool) const noexcept override { return call_.is_unwanted(); }
  std::int64_t memory_budget() const noexcept override { return call_.memory_budget(); }

  Context& call_;
  const std::stop_token& stop_;
  const std::uint64_t seed_;
  const CursorSources& sources_;
};

class Cursor {
 public:
  virtual ~Cursor() = default;
  // Before anything of a pass is pulled. Leaves out what is left of the pass before.
  virtual void begin_pass(const PassKey& pass, CursorCall& call) = 0;
  // Appends elements and errors, at most `most`, and maybe none although there are more. False: the pass has no more.
  // Asks what is before it once at most, so whoever calls can look whether more is still wanted.
  virtual bool pull(Slots& out, std::size_t most, CursorCall& call) = 0;
  virtual std::int64_t held_bytes() const noexcept { return 0; }  // of elements that ops keep
  // Of one that begins a dataset with a reader: what it calls what an element was made of.
  virtual std::string origin(const Stamp&) const { return {}; }
};

// What ops have given and nobody has pulled yet: of calls that gave more than was wanted.
class Pulled {
 public:
  bool empty() const noexcept { return given_ == slots_.size(); }
  std::int64_t bytes() const noexcept { return bytes_; }
  void add(Slot&& slot) {
    bytes_ += slot.bytes();
    slots_.push_back(std::move(slot));
  }
  // Appends some of them to `out`, at most `most`.
  void give(Slots& out, std::size_t most);
  void clear() noexcept;

 private:
  Slots slots_;
  std::int64_t bytes_ = 0;  // of those that have not been given
  std::size_t given_ = 0;
};

}  // namespace penstock::exec
