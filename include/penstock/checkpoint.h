// Checkpoint: where a run stands, to go on from there in another run, thread, or later process.
//
// It is taken at the last element that was *delivered*: what the engine has read ahead is not in it. It holds
// positions, counters and the pipeline's text, a line for each op, whatever the elements' sizes: 63 bytes and that
// text, under 1 KiB for ImageNet's pipelines; some bytes for each op with a state, and some for each element that is
// held, where a run is not resumed by position. Tuned numbers and thread counts are not part of it: a checkpoint may go
// on with others. It refuses another pipeline, naming the first difference.
//
//   auto saved = std::make_shared<ps::Checkpoint>(run.checkpoint());
//   auto again = train.start({.resume_from = saved});       // delivers exactly what `run` delivers next
//
// On disk: save_checkpoint() and load_checkpoint() of checkpoint_file.h, or as bytes in a file with the model's weights
// (examples/resume.cc):
//
//   const std::string bytes = run.checkpoint().to_bytes();
//   // Later, perhaps in another process:
//   auto kept = std::make_shared<ps::Checkpoint>(ps::Checkpoint::from_bytes(bytes));
//
// A loop over run.epoch(saved->epoch) delivers the rest of that epoch; where epoch_ended, go on with the next one:
// asked for again, an epoch that has ended begins anew.
//
// Another process must build the same pipeline: give every shuffle a seed, for one that is drawn is part of the
// pipeline.
//
// On another number of ranks: a checkpoint of any rank is one of all, for they make their steps together. Resumed by a
// rank of a smaller or larger world, a run goes on behind what all have taken, so each element comes once, and with
// batches such that all ranks take as many together as before the global batches are the same. That holds where before
// shard(world) there are sources that can be indexed and what selects or orders them, and behind it maps, batch() and
// prefetch() alone; elsewhere, where elements of that rank have failed, and in the middle of the new ranks' step
// start() refuses with Error(failed_precondition), which says why (examples/elastic.cc). Of other ranks' failures a
// checkpoint knows nothing: where errors are skipped and one has failed anywhere, the ranks have not taken the same, so
// go on with as many ranks as before, each with its own checkpoint.
//
// Behind Order::arbitrary the number of elements delivered does not tell which: there a checkpoint may be taken at an
// epoch's end only, and checkpoint() throws Error(failed_precondition) elsewhere.
//
// What a checkpoint says is checked where it is resumed. start() refuses what contradicts itself with
// Error(invalid_argument), and a pass or an element that the source does not have with Error(data_loss). Where that
// cannot be told before (a generator ends earlier, another rank's element), next() throws Error(data_loss) when it has
// come to the end of that pass or epoch, and the epoch has ended then. To leave out what was delivered takes as long as
// reading positions (indexable sources), generating, or, for a replay, making it.
//
// A replay begins at the last *save point* that the consumer has passed, if there is one: every some milliseconds, but
// in between two bursts of reading ahead (a thousand elements and more, where they are cheap), the sources say where
// they stand, and each op what it has counted and which elements it holds (StreamState::save in op.h). Elements are not
// in it: what is before an op that holds some runs again from the oldest one that is held, so one that waits long for
// its like (a rare key of group_by_window) costs all that came since. Ops that cannot say so (unique, reduce, a
// function with a state) run again from the beginning of their pass, and what is behind them too. What comes again up
// to the checkpoint's place must be the same. Where more fails there than did, next() throws that error, and nothing
// more of the epoch comes: resume once more, or start the epoch anew. Where an op held what fails, the run has ended,
// and that takes another one. Where the last element that was delivered comes at another place, since an input is
// another one or what failed does not, it throws Error(data_loss). With other RunOptions::rewrites, and by another
// version of the library, the epoch is run again from its start. RunOptions::seed and what on_error has counted are not
// in a checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/op.h>

#pragma GCC visibility push(default)

namespace penstock {

class Checkpoint {
 public:
  // position: goes on at a place in the source at once. replay: runs the epoch again, from a save point or from its
  // start, and leaves out what was delivered; used where an op's state cannot be told from a position (a shuffle over a
  // stream, a take behind a map, datasets of elements, branches).
  enum class Kind : std::uint8_t { position, replay };

  // The checkpoint as bytes: the same on every machine, 63 and the pipeline's text, and 12 and the save point.
  // Error(invalid_argument) if the fields contradict themselves (a run's never do), Error(resource_exhausted) if the
  // pipeline's text is longer than 1 MiB, or the save point than 256 MiB.
  std::string to_bytes() const;

  // What to_bytes() made, but for last.sequence and last.source. Later versions of the library read what this one
  // writes.
  //  Error(data_loss)      the bytes are damaged, cut short, followed by others, or no checkpoint; says what is wrong
  //                        at which byte
  //  Error(unimplemented)  a newer version of the library wrote them
  static Checkpoint from_bytes(std::string_view bytes);

  Kind kind = Kind::replay;       // how a run goes on from here
  std::string pipeline;           // describe() without call sites
  std::uint32_t epoch = 0;        // in which it stands
  std::int64_t delivered = 0;     // elements and errors of this epoch that the consumer has had
  bool epoch_ended = false;       // its end has been delivered, too
  bool has_last = false;          // an element was among them
  Stamp last;                     // of the last element delivered
  std::int64_t errors_since = 0;  // errors delivered after it
  // Of a replay: where the ops stood a moment before, for the library alone; "" where that is the epoch's beginning.
  std::string save_point;
  std::int64_t since_save_point = 0;  // elements and errors delivered behind that
};

}  // namespace penstock

#pragma GCC visibility pop
