// Options of ops and runs: aggregates with defaults, to be written with designated initialisers.
//
//   auto files = paths.shuffle(10'000, {.seed = 7}).map(read, ps::AUTOTUNE, {.blocks = true});
//   auto run = files.start({.epochs = 90, .on_error = ps::skip_up_to(100)});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/bytes_hint.h>
#include <penstock/op.h>
#include <penstock/rewrites.h>

#pragma GCC visibility push(default)

namespace penstock {

inline constexpr std::size_t KiB = std::size_t{1} << 10;
inline constexpr std::size_t MiB = std::size_t{1} << 20;
inline constexpr std::size_t GiB = std::size_t{1} << 30;

// Write the members in this order, as C++ wants it; any may be left out:
//
//   auto decoded = files.map(decode, {.parallelism = 8, .blocks = false, .name = "decode"});
//
// An element that is done goes on to a consumer that waits for it, though its neighbours take long: it never waits for
// them, but for the order. So a function, a source or an op may wait for what the consumer gives back (a buffer of your
// own pool, an answer). How many buffers are enough, beside those that the consumer keeps while it asks for more: one
// where one call runs at a time (parallelism 1, sources, stream ops) or order is arbitrary; 2 x parallelism where you
// fix it to more and order is kept, for no element begins further ahead of the oldest one that is not done. What
// gathers elements (batch, shuffle) needs as many more. AUTOTUNE keeps no such bound: fix the parallelism of such a
// function. A run that stands still says who waits for whom, once on stderr, and in explain().
//
// Finished elements that nobody has taken yet live on and count, as those under way do. Functions that take
// microseconds run in groups, so some hundred elements may exist at each step. A prefetch(n) right behind a map bounds
// them: n wait, one where n is 0, and the step has no more than the larger of n and 2 x parallelism (fixed, too). Where
// elements hold something scarce, such as file descriptors, do that, take it from a pool of your own that waits when it
// is empty (as above), or say {.blocks = true}: one element a call.
struct MapOptions {
  Tunable parallelism = AUTOTUNE;  // calls of the function at once; map(f, 8) says the same
  Order order = Order::kept;       // arbitrary: results leave as they are done
  // Whether the function waits (files, network, sleep) rather than computes. Left open, the controller finds out.
  std::optional<bool> blocks = std::nullopt;
  // The function keeps the number of rows of its element, so that batch(n, drop).map(f).unbatch() knows its count.
  bool keeps_leading_dimension = false;
  // A promise that no call throws: a run may then leave the function out for elements that a take, skip or shard behind
  // it does not want (Rewrites). Known without it of a noexcept function that gives numbers. One that throws all the
  // same is an error of its element, but elements may then be counted otherwise.
  bool cannot_fail = false;
  // Bytes of the result, foretold from the input. Worth giving where sizes differ much: this is reserved before a call
  // then, and not the average of earlier results.
  BytesHint bytes_hint = {};
  // What describe(), errors, snapshots and explain() call this step; empty: by its op, "map". A checkpoint and a warm
  // start belong to a pipeline with the same names. UTF-8 without line breaks or other control characters, at most 64
  // bytes.
  std::string name = {};
};

// Of interleave(f), which is how record files are read: f makes each element a dataset. `cycle_length` of them are open
// and give `block_length` elements each in turn; when one has no more, that of the next element takes its place.
//
//   auto rows = paths.interleave(rows_of, {.cycle_length = 8, .blocks = true, .name = "rows"});
//
// The order is that of tf.data's parallel op, whatever is tuned: an error, also of f, counts as an element of its
// block. A dataset is read by one thread at a time, with no stage, thread or lock of its own: opening one costs about a
// microsecond, an open one some hundred bytes for each op, and a million of them are fine. Several are read at once,
// but each one's functions run one after the other: maps that keep the order belong behind the interleave, where they
// have all cores.
// Elements are made ahead, 2 x block_length of each open dataset, or more of those that are cheap and small. Datasets
// are opened ahead, 2 x cycle_length beyond the cycle, or one for each core, or the parallelism that you fix. All of it
// counts for memory_bytes when it is made. Elements of a dataset that takes less than 2 us for each leave some 16 at a
// time: one that suddenly takes long holds up those before it, but where {.blocks = true} says that it may wait. What
// makes the elements must not wait for what the consumer gives back.
// All ops may be inside, interleave too, 64 deep; what they keep is counted, but not bounded. A prefetch there does
// nothing; a shuffle needs a seed, or draws anew for each element, also in a resumed run; a dataset that never ends
// keeps its place. An error is one in its place, whose cause() is that inside. Random numbers differ between elements.
// f must be callable as const. A run that is resumed opens the datasets that were open again, and reads each up to its
// place.
struct InterleaveOptions {
  std::int64_t cycle_length = 16;  // 1..65536. The same on all machines, unlike tf.data's, for the order hangs on it
  std::int64_t block_length = 1;   // elements of each before it is the next one's turn
  Tunable parallelism = AUTOTUNE;  // calls at once, each on a dataset of its own
  Order order = Order::kept;       // arbitrary: who has something gives it
  // Whether the function, or what makes the elements of its datasets, waits (files, network, sleep) rather than
  // computes. Left open, the controller finds out.
  std::optional<bool> blocks = std::nullopt;
  std::string name = {};  // as in MapOptions
};

struct FilterOptions {
  Tunable parallelism = AUTOTUNE;  // calls of the predicate at once
  Order order = Order::kept;       // arbitrary: elements leave as they are done
  std::string name = {};           // as in MapOptions
};

// In which order a shuffle gives its elements.
//
// TensorFlow's is for experiments that were begun there: what tf.data's range(10).shuffle(4, seed=42) gives, bit for
// bit,
//   auto as_before = ps::range(10).shuffle(4, {.seed = 42, .order = ps::ShuffleOrder::tensorflow});
// gives. It holds buffer_size elements, whatever is before it, or positions of 8 bytes, which memory_bytes does not
// count.
// It depends on how often the shuffle was opened before, as TensorFlow 2.21 counts: repeat(c) directly behind it (past
// take(-1), skip(0), repeat(1), shard(1, 0)) opens it c times; any other one, once all passes are over, once more, and
// with it all shuffles before it. Loops over the dataset, and over what is made of it, go on where the one before has
// come to: one that is left early, or ended by a take(), by its last element, so what a buffer or a batch further down
// had asked for beyond it is not counted. Loops that overlap, and uses of one shuffle in several inputs of a merge, are
// counted each by itself. A Run counts as if each epoch before had been read to its end (2^31 openings of one without
// an end), also one that is resumed, and one inside flat_map. GraphError where an op that may end a pass (take,
// take_while, zip) stands between two repeats behind it.
enum class ShuffleOrder : std::uint8_t {
  keyed,       // of (seed, epoch, pass) alone
  tensorflow,  // as above
};

struct ShuffleOptions {
  std::optional<std::uint64_t> seed = std::nullopt;  // none: drawn when the op is built, printed by describe()
  bool reshuffle_each_epoch = true;                  // also for each pass of a repeat
  ShuffleOrder order = ShuffleOrder::keyed;          // tensorflow: for experiments that were begun there
  // That of tf.random.set_seed(), if there was one; for ShuffleOrder::tensorflow only, and beside a seed. A negative
  // seed of Python's is written as static_cast<std::uint64_t>(-3), here as above.
  std::optional<std::uint64_t> global_seed = std::nullopt;
};

struct BatchOptions {
  bool drop_remainder = false;  // leaves the last batch of an epoch out if it is not full
};

struct CacheOptions {
  // What it may keep, beside RunOptions::memory_bytes. 0: a quarter of what is free when the first pass begins; of a
  // file: as much as there is room for.
  std::int64_t max_bytes = 0;
};

struct WindowOptions {
  std::optional<std::int64_t> shift =
      std::nullopt;             // from where a window begins to where the next one does; none: size
  std::int64_t stride = 1;      // from an element of a window to its next one
  bool drop_remainder = false;  // leaves windows out that are not full
};

struct SampleOptions {
  std::vector<double> weights = {};  // one for each dataset, 0: never; they need not add up to 1. None: all alike
  std::optional<std::uint64_t> seed = std::nullopt;  // none: drawn when the op is built, printed by describe()
  bool stop_on_empty = false;           // ends when a dataset is drawn that has no more; else the others go on
  bool rerandomize_each_epoch = false;  // also for each pass of a repeat; else all passes draw alike
};

struct ChooseOptions {
  bool stop_on_empty = false;  // ends when a dataset is chosen that has no more; else that choice is passed over
};

// What the iterator does with a failed element.
struct ErrorPolicy {
  // 0: throw every one; n: count and skip up to n, then throw; -1: skip all. Less is refused
  std::int64_t skip_at_most = 0;
};
constexpr ErrorPolicy stop_on_error() noexcept { return {0}; }
constexpr ErrorPolicy skip_up_to(std::int64_t n) noexcept { return {n}; }
constexpr ErrorPolicy skip_all() noexcept { return {-1}; }

class Checkpoint;

struct RunOptions {
  // CPU slots: calls that compute at once. Blocking calls need none, and a run that stands still is lent more; an
  // unsafe function wants parallelism 1. 0: the cores of the affinity mask (of the process, that is of its first
  // thread; the threads that run calls use these, whichever thread begins the run), or the cgroup's quota if less,
  // divided by the ranks on this machine (World). A larger number is honoured, with a warning, up to 1024. Looked up
  // when the run starts. A quota that falls later is followed within a second or so; one that rises, up to the slots
  // that the run began with: the next run has more.
  int threads = 0;
  // Bytes that elements under way may hold, with what surrounds them (88 for each, less inside batches and shuffles);
  // 0: a quarter of the memory that is free (or of the cgroup's limit) at the start, divided by the ranks on this
  // machine, at least 64 MiB; for a serial run, also one inside a function of another run, no limit (it reads nothing
  // ahead). What comes on top: without a hint one call of an op begins before a result tells its size, and one more for
  // each 100 ms in which the oldest sleeps, or 1 s in which it computes (of an op that completes later, all that its
  // parallelism allows); and what is much larger than all before it.
  std::size_t memory_bytes = 0;
  // Blocking calls at once that AUTOTUNE may give all stages of the run together (1..256, other numbers are refused); a
  // stage that waits has one at least, and a parallelism that you set stands. All runs of the process share 256 threads
  // for them; a run that would have none of these has one beyond. Where several ranks share the machine, AUTOTUNE plans
  // with this rank's part of the 256, and with one call where that is less; the threads themselves are not divided, so
  // calls that you set yourself may take all of them in each rank.
  // Calls that complete later (Form::completes_later) take no thread. With AUTOTUNE each such op begins with no more of
  // them than this; it then goes on to at most twice as many as are answered no slower than a few, up to 4,096, or to
  // the bound of Tunable::between.
  int open_io = 64;
  // Epochs that will be asked for one after the other: the engine then reads ahead across their borders. 0: unknown, it
  // stops at each epoch's end.
  std::uint32_t epochs = 0;
  std::uint32_t first_epoch = 0;  // where next() begins unless epoch() is called
  // For a run inside another one's function: the outer pass that it is part of (Pass::pass, Stamp::pass), by which
  // random orders and numbers differ, as they do by epochs. None: that of the call in which the run is started; 0
  // outside of all runs.
  std::optional<std::uint32_t> pass = std::nullopt;
  std::uint64_t seed = 0;  // of Context::rng(); shuffles have their own. To go on with the same numbers, resume with it
  ErrorPolicy on_error = {};  // what becomes of failed elements of this run; all are thrown unless it says otherwise
  bool serial = false;        // everything on the calling thread, no read-ahead, no TBB: for debugging
  bool tune = true;           // false: knobs stay where they start
  std::shared_ptr<const Checkpoint> resume_from = nullptr;  // where another run stood; null: begins anew
  // A file for what happens in the run, to be opened by ui.perfetto.dev: calls on their threads, the way of elements to
  // the consumer, what waits where, and the controller's last 256 decisions. It is made at once, and written when the
  // run ends. Up to 250,000 calls are remembered, in up to 64 MiB; the file says how many came after them. Costs 1 to 2
  // %. Empty: no trace.
  std::string trace = {};
  // A file that keeps what the controller has found for this pipeline on this kind of machine (CPU model, memory,
  // number of CPUs), so that the next run begins there instead of searching anew. The same pipeline: the same ops with
  // the same settings, whatever their seeds and whatever the source holds; functions are not compared. Read when the
  // run begins, if it is there; written when a run of at least a second ends. Give each pipeline and each rank a file
  // of its own: one of another pipeline or machine is replaced; one that cannot be read or written, for want of its
  // folder too, costs a line on stderr, no more.
  // Unused where nothing is tuned. Empty: none.
  std::string warm_start = {};
  Rewrites rewrites = {};  // what may be changed of the pipeline before it runs; results are the same with each
};

}  // namespace penstock

#pragma GCC visibility pop
