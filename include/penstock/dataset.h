// Dataset<T>: a lazy description of a stream of T, built step by step, run by iterating.
//
//   namespace ps = penstock;
//   auto train = ps::from_file_list("train.txt")             // Dataset<std::string>
//                    .shuffle(200'000, {.seed = 7})          // another order each epoch
//                    .shard(world)                           // this rank's part
//                    .map(read, ps::AUTOTUNE, {.blocks = true})
//                    .map(decode)                            // Dataset<std::vector<Example>>
//                    .unbatch()                              // Dataset<Example>
//                    .batch(128)                             // Dataset<ps::Batch<Example>>
//                    .prefetch(ps::AUTOTUNE);
//   for (auto&& batch : train) step(batch);                  // one epoch
//
// A Dataset is a value: every method is const and returns a new one that shares the old one's description. Copying
// costs a pointer. Any thread may use one. Nothing runs until begin(), start() or a loop asks for an element.
//
// What holds for every method below
//  Order     kept, whatever the number of threads, unless {.order = ps::Order::arbitrary} is given.
//  Errors    wrong arguments throw GraphError at the call. An exception of a user's function becomes an error element
//            in its place: next() throws it there as ElementError, and the next call goes on behind it. Neighbours are
//            never lost.
//            shard counts an error as a position of its input; ops that count elements (take, skip, batch) do not,
//            and pass it on.
//  Memory    all ops together stay within the run's budget, but for what RunOptions::memory_bytes names. How many
//            elements there are, how long they live, and what functions may wait for: see MapOptions (options.h).
//  User functions
//            `f(T)` or `f(T, ps::Context&)`, T by value, const reference or rvalue reference. Several calls run at once
//            on one object, also of several runs: be stateless or thread-safe. Move-only functions are fine.
//            A function whose call is not const (a mutable lambda) needs parallelism 1. Each pass of each run calls a
//            copy of its own, as it was given, in the order of the elements: what it gives depends on the pass alone.
//            One that cannot be copied is refused with a GraphError; where making the copy throws, all elements of that
//            pass fail. What its copies share through pointers and references is yours to guard.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <penstock/batch.h>
#include <penstock/call_site.h>
#include <penstock/detail/functions.h>
#include <penstock/detail/inner_dataset.h>
#include <penstock/detail/refused.h>
#include <penstock/detail/unavailable.h>
#include <penstock/graph.h>
#include <penstock/ops.h>
#include <penstock/options.h>
#include <penstock/padded_batch.h>
#include <penstock/ragged_batch.h>
#include <penstock/run.h>
#include <penstock/tunable.h>
#include <penstock/world.h>

#pragma GCC visibility push(default)

namespace penstock {

template <class T> class Dataset : private detail::Refused<T> {
  using Refused = detail::Refused<T>;

 public:
  using value_type = T;

  // Around a node that graph::append() has made. Nobody checks that its elements are of type T: use then<T>() and
  // from_indexed<T>(). Of a null node, and of a dataset that was moved from: Error(invalid_argument) when it is asked
  // for anything.
  explicit Dataset(graph::NodeRef node) : node_(std::move(node)) {}

  // ------------------------------------------------------------------------------------------------ choose and order

  // Keeps the elements whose position modulo num_shards is index. Needs num_shards >= 1, 0 <= index < num_shards.
  // Shards differ in length by at most one. An error goes to the shard its position belongs to.
  //   ps::range(10).shard(3, 1)  ->  1 4 7
  // Over a source that can be indexed it costs nothing: other ranks' elements are never read.
  // GraphError behind an unseeded shuffle if num_shards > 1: ranks would draw different orders.
  Dataset shard(std::int64_t num_shards, std::int64_t index, CallSite site = CallSite::here()) const {
    return append("shard", site, [&] { return ops::shard(num_shards, index); });
  }

  // This process's part. Behind it each rank has as many elements as the others, or one more; so several ranks need a
  // known count before it: GraphError behind filter, unbatch, flat_map, ignore_errors, generators, where ranks that
  // wait for each other after every step would hang at the end of an epoch. Put it before them and count steps, not
  // elements; or repeat() first; or write shard(world.size, world.rank), which does not ask.
  Dataset shard(const World& world, CallSite site = CallSite::here()) const {
    return append("shard", site, [&] { return ops::shard(world); });
  }

  // Random order, another one each epoch and each pass of a repeat unless reshuffle_each_epoch is false. The order
  // depends on (seed, epoch, pass) alone. Over a source that can be indexed (lists, vectors, ranges, also several and
  // behind shard, take, skip) positions are shuffled, not elements: buffer_size >= the number of elements is a uniform
  // permutation with no buffer and no fill time. Over a stream it holds buffer_size elements, and an element leaves at
  // most buffer_size - 1 places early.
  // Needs buffer_size >= 1, or UNKNOWN_CARDINALITY for "all".
  // "Uniform" means: of up to 256 positions each order is equally likely over seeds and epochs. Of more there are more
  // orders than keys of 128 bits; each position comes to each place equally often, neighbours are apart by any
  // distance, odd orders are as likely as even ones, as far as tests can tell. It is not made to withstand somebody who
  // wants to guess it. An order is the same on all machines; a new release may change it, and says so in the changelog.
  //
  // For experiments that were begun with TensorFlow there is its own order: ShuffleOrder::tensorflow (options.h).
  Dataset shuffle(std::int64_t buffer_size, ShuffleOptions options = {}, CallSite site = CallSite::here()) const {
    return append("shuffle", site, [&] {
      const bool as_tensorflow = options.order == ShuffleOrder::tensorflow;
      return as_tensorflow ? ops::tensorflow_shuffle(buffer_size, options) : ops::shuffle(buffer_size, options);
    });
  }

  // Everything before it, count times (-1: for ever). Each pass starts the source anew and reshuffles. Ends at once if
  // a pass of an endless repeat gives neither an element nor an error.
  //   ps::range(2).repeat(2)  ->  0 1 0 1
  Dataset repeat(std::int64_t count = -1, CallSite site = CallSite::here()) const {
    return append("repeat", site, [&] { return ops::repeat(count); });
  }

  // At most the first count elements (-1: all). What lies behind is not computed, but for what was already under way,
  // for which nobody waits: the end comes with the last element, whatever the ops before are doing. (The end of the run
  // does wait for running calls.) Errors pass and do not count.
  //   ps::range(10).take(3)  ->  0 1 2
  Dataset take(std::int64_t count, CallSite site = CallSite::here()) const {
    return append("take", site, [&] { return ops::take(count); });
  }

  // All elements of this dataset, then all of another one. They are read one after the other, but the next one's first
  // elements while the last ones of this one are; see ps::concatenate (merging.h) for a list of datasets.
  //   ps::range(2).concatenate(ps::range(5, 7))  ->  0 1 5 6
  // A repeat behind it repeats both.
  Dataset concatenate(const Dataset& next, CallSite site = CallSite::here()) const {
    return Dataset(
        graph::build(std::vector{node_, next.node_}, "concatenate", site, [] { return ops::concatenate(); }));
  }

  // All but the first count elements (-1: none is left). Errors pass and do not count; for them what is before a
  // skip(-1) still runs to its end, unless it is a list. take(0) runs nothing.
  //   ps::range(5).skip(3)  ->  3 4
  Dataset skip(std::int64_t count, CallSite site = CallSite::here()) const {
    return append("skip", site, [&] { return ops::skip(count); });
  }

  // Says how many elements, errors among them, each pass has where nobody can know it, as behind filter: the count for
  // what follows, such as shard(world). A pass that ends before has an error at its end; one that goes on ends with one
  // in place of the first element too many (failed_precondition). GraphError if another count is known.
  //   ps::range(6).filter([](std::int64_t x) { return x % 2 == 0; }).assert_cardinality(3).cardinality()  ->  3
  Dataset assert_cardinality(std::int64_t cardinality, CallSite site = CallSite::here()) const {
    return append("assert_cardinality", site, [&] { return ops::assert_cardinality(cardinality); });
  }

  // The first elements, as long as predicate(const T&) is true: the first one for which it is not ends the pass, as
  // take does. An element whose predicate throws is an error in its place, and the pass goes on.
  //   ps::range(10).take_while([](std::int64_t x) { return x != 3; })  ->  0 1 2
  template <class F>
  requires(detail::PredicateFunction<F, T>) Dataset take_while(F predicate, CallSite site = CallSite::here())
  const {
    return append("take_while", site,
                  [&] { return ops::take_while(detail::copied(detail::PredicateStep<F, T>(std::move(predicate)))); });
  }

  // The first of all elements that are equal (== and std::hash), in each pass. It holds a copy of each value that it
  // has seen, which counts as memory of the run: for values of a list that fits.
  //   ps::from_vector(std::vector{2, 1, 2, 3}).unique()  ->  2 1 3
  Dataset unique(CallSite site = CallSite::here()) const requires(detail::Hashable<T>) {
    return append("unique", site, [] { return ops::unique(detail::copied(detail::UniqueStep<T>())); });
  }

  // ------------------------------------------------------------------------------------------------ transform

  // f(element), for every element. Up to `parallelism` calls run at once. Say {.blocks = true} if f waits (reads
  // files): it then runs on a thread pool from the start; left open, the controller finds out within a second. A name
  // is what errors and reports call this step. A function that does not take a std::tuple gets its parts.
  //   ps::range(3).map([](std::int64_t x) { return 2 * x; })  ->  0 2 4
  //   auto decoded = files.map(decode, {.parallelism = 8, .name = "decode"});
  template <class F>
  requires(detail::ElementFunction<F, T> && !detail::ReturnsVoid<F, T> &&
           !detail::ReturnsWrongFields<F, T>) Dataset<detail::Result<F, T>> map(F function, MapOptions options = {},
                                                                                CallSite site = CallSite::here())
  const {
    return append<detail::Result<F, T>>("map", site, [&] {
      detail::check_hint<T>(options.bytes_hint);
      return ops::map(detail::function_ref<detail::MapFunction, T>(std::move(function)), options);
    });
  }
  // The same; parallelism can be given in one place only.
  template <class F>
  requires(detail::ElementFunction<F, T> && !detail::ReturnsVoid<F, T> &&
           !detail::ReturnsWrongFields<F, T>) Dataset<detail::Result<F, T>> map(F function, Tunable parallelism,
                                                                                MapOptions options = {},
                                                                                CallSite site = CallSite::here())
  const {
    detail::set_parallelism(node_, "map", options, parallelism, site);
    return map(std::move(function), std::move(options), site);
  }

  // Keeps the elements for which predicate(const T&) is true. The predicate must not wait (for files, a server): it
  // always runs on the cores, never on the thread pool. Let a map before it fetch what it looks at.
  //   ps::range(5).filter([](std::int64_t x) { return x % 2 == 0; })  ->  0 2 4
  template <class F>
  requires(detail::ElementFunction<F, const T&> && !detail::ReturnsNoBool<F, const T&>) Dataset
      filter(F predicate, FilterOptions options = {}, CallSite site = CallSite::here())
  const {
    return append("filter", site, [&] {
      return ops::filter(detail::function_ref<detail::FilterFunction, T>(std::move(predicate)), options);
    });
  }

  // The elements of what f returns, one after the other: a Dataset<U>, a generator (as from_generator() takes one), a
  // std::vector<U>, a Tensor's rows, or any type with ps::Unbatch.
  //   ps::range(4).flat_map([](std::int64_t x) { return ps::range(x); })  ->  0 0 1 0 1 2
  // A list is made whole by one call. Datasets and generators are read as those of an interleave() with a cycle_length
  // of 1 (InterleaveOptions): one gives, those of the next elements are open and have some elements ready, or all where
  // that is few. MapOptions::bytes_hint is not asked for them. Where a long one is slow, interleave() reads several at
  // a time.
  template <class F>
  requires(detail::ElementFunction<F, T> &&
           !detail::ReturnsNoRows<F, T>) auto flat_map(F function, MapOptions options = {},
                                                       CallSite site = CallSite::here()) const {
    using U = typename detail::Flatten<detail::Result<F, T>>::value_type;
    return append<U>("flat_map", site, [&] { return detail::flat_map<F, T>(std::move(function), options); });
  }
  // The same; parallelism can be given in one place only.
  template <class F>
  requires(detail::ElementFunction<F, T> &&
           !detail::ReturnsNoRows<F, T>) auto flat_map(F function, Tunable parallelism, MapOptions options = {},
                                                       CallSite site = CallSite::here()) const {
    detail::set_parallelism(node_, "flat_map", options, parallelism, site);
    return flat_map(std::move(function), std::move(options), site);
  }

  // The elements of the datasets that f(element) gives, in turn; see InterleaveOptions (options.h). A generator, as
  // from_generator() takes one, is a dataset here; it may be move-only.
  //   ps::range(4).interleave([](std::int64_t x) { return ps::range(x); }, {.cycle_length = 2})  ->  0 0 1 0 1 2
  template <class F>
  requires(detail::ElementFunction<F, T> &&
           !detail::ReturnsNoDataset<F, T>) auto interleave(F function, InterleaveOptions options = {},
                                                            CallSite site = CallSite::here()) const {
    using U = typename detail::ElementsOf<detail::Result<F, T>>::value_type;
    return append<U>("interleave", site, [&] {
      return ops::interleave(detail::function_ref<detail::DatasetFunction, T>(std::move(function)), options);
    });
  }

  // The rows of each element, as elements of their own. Nothing is copied. An element without rows gives nothing.
  //   ps::range(5).batch(2).unbatch()  ->  0 1 2 3 4
  auto unbatch(CallSite site = CallSite::here()) const requires Unbatchable<T> {
    return append<typename Unbatch<T>::value_type>("unbatch", site, [] { return detail::unbatch<T>(); });
  }

  // batch_size elements together, contiguous where ps::Collate says so. The last batch of an epoch may be smaller, or
  // is left out with {.drop_remainder = true}. Holds batch_size elements. An element that does not fit (another shape)
  // is reported as an error in its place; the batch goes on with its neighbours. With drop_remainder that is told when
  // as many elements have come as a batch has: where the input ends before, they are the remainder, and nothing of it
  // is missed.
  //   ps::range(5).batch(2)  ->  [0, 1] [2, 3] [4]
  //   ps::range(5).batch(2, {.drop_remainder = true})  ->  [0, 1] [2, 3]
  // Of records of a few bytes, batch the positions and fetch the rows of a whole batch in one call: an element costs
  // 0.1 to 0.2 us on its way, whatever it holds.
  //   auto rows = ps::range(1'000'000).shuffle(1'000'000, {.seed = 7}).batch(1024).map(fetch_rows);
  auto batch(std::int64_t batch_size, BatchOptions options = {},
             CallSite site = CallSite::here()) const requires detail::BatchElement<T> {
    return append<Batch<T>>("batch", site, [&] {
      return ops::batch(batch_size, std::make_shared<detail::TypedBatchFactory<T>>(), options);
    });
  }

  // batch_size elements together that differ in length: tensors, vectors, and structs with such Fields
  // (padded_batch.h). Each is filled up to the longest of its batch, or to a size of yours, with 0, "" or another
  // value. Copied once, when the batch is whole: until then its elements are held. The rest is as for batch().
  //   auto texts = ps::from_vector<std::vector<int>>({{1, 2}, {3}, {4, 5, 6}});
  //   texts.padded_batch(2)  ->  [[1, 2], [3, 0]] [[4, 5, 6]]
  //   texts.padded_batch(2, {.padded_shapes = {3}, .padding_values = -1})  ->  [[1, 2, -1], [3, -1, -1]] [[4, 5, 6]]
  //   auto batches = sentences.padded_batch(32, {.padded_shapes = {{&Sentence::tokens, {128}}}});
  // What exceeds a size of yours (data_loss), or has another rank or type (invalid_argument), is an error in its place.
  auto padded_batch(std::int64_t batch_size, PaddedBatchOptions<T> options = {},
                    CallSite site = CallSite::here()) const requires detail::PaddedBatchElement<T> {
    return append<PaddedBatch<T>>("padded_batch", site, [&] {
      Padding padding = detail::padding_of<T>(options.padded_shapes, options.padding_values);
      using Factory = detail::TypedBatchFactory<T, PaddedCollate<T>, Padding>;
      return ops::padded_batch(batch_size, std::make_shared<Factory>(padding), padding, options.drop_remainder);
    });
  }

  // The same elements one behind the other, with nothing in between, and the places where each begins and ends: a
  // ps::Ragged (ragged_batch.h). Copied once, when the batch is whole. The rest is as for batch().
  //   auto batches = sentences.ragged_batch(32);
  // Tensors may differ in dimension 0 alone: any other one is an error in its place (invalid_argument).
  auto ragged_batch(std::int64_t batch_size, BatchOptions options = {},
                    CallSite site = CallSite::here()) const requires detail::BatchElement<T> {
    return append<RaggedBatch<T>>("ragged_batch", site, [&] {
      return ops::ragged_batch(batch_size, std::make_shared<detail::TypedBatchFactory<T, RaggedCollate<T>>>(), options);
    });
  }

  // The rows of batches, in batches of another size: as unbatch() and batch(), but single rows cost next to nothing,
  // and each is copied once. With several sizes each is used in turn. The last batch of a pass may be smaller, or is
  // left out with {.drop_remainder = true}. Errors pass at once. Rows that do not fit each other (another shape) fail
  // the batch that would have had them.
  //   ps::range(12).batch(4).rebatch(6)  ->  [0, 1, 2, 3, 4, 5] [6, 7, 8, 9, 10, 11]
  //   ps::range(5).batch(4).rebatch({2, 1})  ->  [0, 1] [2] [3, 4]
  Dataset rebatch(std::vector<std::int64_t> batch_sizes, BatchOptions options = {},
                  CallSite site = CallSite::here()) const requires(detail::IsBatch<T>::value) {
    return append("rebatch", site, [&] {
      return ops::rebatch(std::move(batch_sizes), std::make_shared<detail::TypedRowQueueFactory<T>>(), options);
    });
  }
  Dataset rebatch(std::int64_t batch_size, BatchOptions options = {}, CallSite site = CallSite::here()) const
      requires(detail::IsBatch<T>::value) {
    return rebatch(std::vector{batch_size}, options, site);
  }

  // (number, element): start, start + 1, ... in each pass. An error has a number, too, which is missing then.
  //   for (auto&& [number, line] : lines.enumerate()) std::cout << number << ' ' << line;
  Dataset<std::tuple<std::int64_t, T>> enumerate(std::int64_t start = 0, CallSite site = CallSite::here()) const {
    return append<std::tuple<std::int64_t, T>>(
        "enumerate", site, [&] { return ops::enumerate(start, detail::copied(detail::EnumerateStep<T>(start))); });
  }

  // f(const State&, element) gives a ps::Scanned{state, value}: the state that the next element finds, and what takes
  // this one's place. Each pass begins with `initial`. One call at a time, in the order of the elements; what throws is
  // an error in its place and leaves the state as it was. Where the state has a ps::Codec and at most 4096 bytes, a run
  // that is resumed goes on with it, and one that began with another is refused; else the pass runs again.
  //   const auto add = [](std::int64_t sum, std::int64_t x) { return ps::Scanned{sum + x, sum + x}; };
  //   ps::range(5).scan(std::int64_t{0}, add)  ->  0 1 3 6 10
  template <class State, class F>
  requires(detail::ScanFunction<State, F, T>) auto scan(State initial, F function,
                                                        CallSite site = CallSite::here()) const {
    return append<detail::ScanValue<State, F, T>>("scan", site, [&] {
      std::string initial_text = detail::short_text_of(initial);
      return ops::scan(detail::copied(detail::ScanStep<State, F, T>(std::move(initial), std::move(function))),
                       std::move(initial_text));
    });
  }

  // std::vectors of `size` elements that follow each other: windows that begin at positions 0, shift, 2 shift, ..., and
  // have every stride-th element from there. The last ones of a pass may be shorter, or are left out with
  // {.drop_remainder = true}. Windows that overlap hold copies. Holds (size - 1) * stride + 1 elements.
  // Positions count elements and errors. An error that a window would have is told once, in its place, and the windows
  // that would have it are short, too; those that would have nothing else are left out. Elements and errors that lie
  // between windows (a shift beyond the size, or a stride) are skipped.
  //   ps::range(7).window(3, {.shift = 2})  ->  [0, 1, 2] [2, 3, 4] [4, 5, 6] [6]
  //   ps::range(7).window(2, {.stride = 3, .drop_remainder = true})  ->  [0, 3] [2, 5]
  Dataset<std::vector<T>> window(std::int64_t size, WindowOptions options = {},
                                 CallSite site = CallSite::here()) const {
    return append<std::vector<T>>("window", site, [&] {
      return ops::window(size, std::make_shared<detail::TypedGathererFactory<T>>(), options);
    });
  }

  // std::vectors of `size` elements for which key(const T&) gives the same. Each leaves when its last element has come;
  // at the end of a pass what is left leaves in the order of the keys (<), which must be one (no NaN among them). A key
  // is held longer than its element, so it must own what it compares: a std::string, not a std::string_view. Errors
  // pass at once. Holds up to size - 1 elements for each key: so there should be few.
  //   ps::range(6).group_by_window([](std::int64_t x) { return x % 2; }, 2)  ->  [0, 2] [1, 3] [4] [5]
  template <class F>
  requires(detail::KeyFunction<F, T>) Dataset<std::vector<T>> group_by_window(F key, std::int64_t size,
                                                                              CallSite site = CallSite::here())
  const {
    return append<std::vector<T>>("group_by_window", site, [&] {
      return ops::group_by_window(size, detail::grouping_by_key<T>(std::move(key), size));
    });
  }

  // Padded batches of elements of about one length, so that little is filled up: by length(const T&), a whole number,
  // each is put together with those of its bucket, in batches of the bucket's own size. At the end of a pass what is
  // left leaves, the shortest first, or is left out with {.drop_remainder = true}. How elements are padded, and which
  // do not fit, padded_batch() tells; with {.pad_to_bucket_boundary = true} each bucket's batches have one length, and
  // what belongs beyond the last boundary fails. Errors pass at once. Holds up to a batch of each bucket.
  //   auto texts = ps::from_vector<std::vector<int>>({{1}, {2, 2, 2}, {3, 3}, {4, 4, 4, 4}});
  //   auto batches = texts.bucket_by_sequence_length([](const std::vector<int>& text) { return text.size(); },
  //                                                  {.bucket_boundaries = {3}, .bucket_batch_sizes = {2, 1}});
  //   batches  ->  [[2, 2, 2]] [[1, 0], [3, 3]] [[4, 4, 4, 4]]
  template <class F>
  requires(detail::PaddedBatchElement<T>&& detail::LengthFunction<F, T>) auto bucket_by_sequence_length(
      F length, const BucketOptions<T>& options, CallSite site = CallSite::here()) const {
    return append<PaddedBatch<T>>("bucket_by_sequence_length", site, [&] {
      const Padding padding = detail::padding_of<T>(options.padded_shapes, options.padding_values);
      return ops::bucket_by_sequence_length(detail::length_by_function<T>(std::move(length)),
                                            detail::factories_of_buckets<T>(padding, options),
                                            detail::buckets_of(options), padding);
    });
  }

  // Leaves out failed elements, counting them in RunStats::dropped. For a limit and a report use RunOptions::on_error.
  Dataset ignore_errors(CallSite site = CallSite::here()) const {
    return append("ignore_errors", site, [&] { return ops::ignore_errors(); });
  }

  // What is before it runs one pass, in epoch 0. Copies of its elements (of a struct's tensors, too, by its ps::Fields)
  // and errors are kept, and given in each pass and epoch of this run, and of others that begin when all are there. So
  // a shuffle before it has one order for good: put what is to differ behind it.
  //   auto images = files.map(decode).cache().shuffle(10'000, {.seed = 7});
  // What it keeps is no memory of a run. Where there is no more room (CacheOptions), what is before it runs each time.
  Dataset cache(CacheOptions options = {}, CallSite site = CallSite::here()) const
      requires(std::copy_constructible<T>) {
    return append("cache", site, [&] { return ops::cache(std::make_shared<detail::TypedCopier<T>>(), options, site); });
  }

  // The same in a file, also for later processes: elements must have a ps::Codec (codec.h). The first pass that ends
  // without an error is written, whole or not at all; who finds the file reads it, whatever is before it. Where that
  // cannot be, or the file is damaged, a line on stderr says so, and what is before it runs: keep order there, and
  // seeds.
  Dataset cache(const std::string& path, CacheOptions options = {}, CallSite site = CallSite::here()) const
      requires(HasCodec<T>) {
    return append("cache", site,
                  [&] { return ops::cache(std::make_shared<detail::TypedElementCodec<T>>(), path, options, site); });
  }

  // Up to buffer_size elements wait here, ready for what follows (AUTOTUNE: the controller says how many; cheap
  // functions go fastest so). Needs >= 0.
  Dataset prefetch(Tunable buffer_size = AUTOTUNE, CallSite site = CallSite::here()) const {
    return append("prefetch", site, [&] { return ops::prefetch(buffer_size); });
  }

  // transform(*this): for functions that add several ops.
  //   auto crops = paths.apply(ps::imagenet::load_crops(config));
  template <class Transform>
  requires std::invocable<Transform, const Dataset&>
  auto apply(Transform&& transform) const { return std::invoke(std::forward<Transform>(transform), *this); }

  // An op of your own (op.h). It must take elements of type T and give elements of type U. What it takes as another
  // type, or gives as another type, becomes an error element that names both types. Looking costs a comparison for each
  // element.
  template <class U = T> Dataset<U> then(OpRef op, CallSite site = CallSite::here()) const {
    return Dataset<U>(graph::append(node_, std::move(op), site, &typeid(U)));
  }

  // ------------------------------------------------------------------------------------------------ run

  // Elements per epoch, INFINITE_CARDINALITY (-1) or UNKNOWN_CARDINALITY (-2), as far as it is known without running.
  std::int64_t cardinality() const { return graph::cardinality(node_); }

  // The element that a loop over epoch 0 would give as number `index`, if none before it failed: to look at one, not to
  // train. Runs what makes it and the one before it, as a resumed run does, on the calling thread; positions before it
  // are counted, one by one behind sample_from and a shuffle that does not shuffle all. Throws ElementError
  // where it has failed; Error(invalid_argument) where there is none of this number; Error(failed_precondition) where
  // it cannot be told what it is made of: behind other ops than those of positions (merging.h), maps that keep the
  // order, batch, prefetch.
  //   ps::range(10).map([](std::int64_t x) { return x * x; }).at(3)  ->  9
  T at(std::int64_t index) const { return detail::element_at(node_, index).template take<T>(); }

  // Starts a run. Nothing is read before its first request: of an element, or of its knobs.
  Run<T> start(RunOptions options = {}) const { return Run<T>(detail::start_run(node_, options)); }

  // A loop over the dataset is one epoch: epoch 0 the first time, then 1, 2, ... (also if an earlier loop was left
  // early). The number belongs to this very description and its copies; train.take(1) counts for itself.
  Iterator<T> begin() const { return Iterator<T>(detail::start_loop(node_)); }
  std::default_sentinel_t end() const noexcept { return {}; }

  // f(state, element) after element: what one epoch makes of `initial`, on the calling thread. Throws what next()
  // throws. Without options it is the epoch that a loop over the dataset would have, with them the first one of a run.
  //   const auto sum = ps::range(10).reduce(std::int64_t{0}, std::plus<>());
  template <class State, class F>
  requires(detail::ReduceFunction<State, F, T>) State reduce(State initial, F function)
  const {
    for (auto&& element : *this) initial = function(std::move(initial), std::move(element));
    return initial;
  }
  template <class State, class F>
  requires(detail::ReduceFunction<State, F, T>) State reduce(State initial, F function, RunOptions options)
  const {
    auto run = start(std::move(options));
    while (auto element = run.next()) initial = function(std::move(initial), std::move(*element));
    return initial;
  }

  const graph::NodeRef& node() const noexcept { return node_; }

  // What no method takes, so that the compiler can say why (detail/refused.h).
  using Refused::apply, Refused::batch, Refused::bucket_by_sequence_length, Refused::cache, Refused::concatenate;
  using Refused::filter, Refused::flat_map, Refused::group_by_window, Refused::interleave, Refused::map,
      Refused::padded_batch, Refused::ragged_batch;
  using Refused::rebatch, Refused::reduce, Refused::scan, Refused::shuffle, Refused::start, Refused::take_while;
  using Refused::unbatch, Refused::unique, Refused::window;
  template <class U>
  requires(!std::is_same_v<T, U>) PENSTOCK_UNAVAILABLE(
      "a Dataset cannot become one of another type, and map(), batch() and their like make another type: give what "
      "they return a name of its own, as in auto batches = data.batch(32)")
  Dataset& operator=(const Dataset<U>&) { return *this; }

 private:
  template <class U = T, class Make> Dataset<U> append(const char* op, CallSite site, Make&& make) const {
    return Dataset<U>(graph::build(node_, op, site, std::forward<Make>(make)));
  }

  graph::NodeRef node_;
};

// The chain, one op a line, with parameters and the user's file and line.
template <class T> std::string describe(const Dataset<T>& dataset) { return graph::describe(dataset.node()); }

}  // namespace penstock

#pragma GCC visibility pop
