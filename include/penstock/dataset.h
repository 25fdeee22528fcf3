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
// A Dataset is a value: every method is const and returns a new one that shares the old one's description. Copying costs a
// pointer. Any thread may use one. Nothing runs until begin(), start() or a loop asks for an element.
//
// What holds for every method below
//  Order     kept, whatever the number of threads, unless {.order = ps::Order::arbitrary} is given.
//  Errors    wrong arguments throw GraphError at the call. An exception of a user's function becomes an error element in its
//            place: next() throws it there as ElementError, and the next call goes on behind it. Neighbours are never lost.
//            shard counts an error as a position of its input; ops that count elements (take, skip, batch) do not,
//            and pass it on.
//  Memory    an op holds one element per running call plus its window; all ops together stay within the run's budget.
//  User functions  `f(T)` or `f(T, ps::Context&)`, T by value, const reference or rvalue reference. Several calls run at once on
//            one object unless parallelism is 1: be stateless or thread-safe. Move-only functions are fine.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/batch.h>
#include <penstock/call_site.h>
#include <penstock/detail/functions.h>
#include <penstock/graph.h>
#include <penstock/ops.h>
#include <penstock/options.h>
#include <penstock/run.h>
#include <penstock/tunable.h>
#include <penstock/world.h>

#pragma GCC visibility push(default)

namespace penstock {

template <class T> class Dataset;

namespace detail {
template <class T> struct IsDataset : std::false_type {};
template <class T> struct IsDataset<Dataset<T>> : std::true_type {};

// What flat_map's function may return: a Dataset<U> or anything that Unbatch takes apart.
template <class R> struct Flatten {
  using value_type = typename Unbatch<R>::value_type;
  static std::vector<value_type> apart(R rows) { return Unbatch<R>::apart(std::move(rows)); }
};
template <class U> struct Flatten<Dataset<U>> {
  using value_type = U;
  static std::vector<U> apart(const Dataset<U>& inner) {
    std::vector<U> values;
    auto run = inner.start({.serial = true, .tune = false});
    while (auto value = run.next()) values.push_back(std::move(*value));
    return values;
  }
};
struct Identity {
  template <class V> V operator()(V&& value) const { return std::forward<V>(value); }
};
}  // namespace detail

template <class T>
class Dataset {
 public:
  using value_type = T;

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

  // This process's part. Behind it each rank has as many elements as the others, or one more; so several ranks need a known count
  // before it: GraphError behind filter, unbatch, flat_map, ignore_errors, generators, where ranks that wait for each other after every step
  // would hang at the end of an epoch. Put it before them and count steps, not elements; or repeat() first;
  // or write shard(world.size, world.rank), which does not ask.
  Dataset shard(const World& world, CallSite site = CallSite::here()) const {
    return append("shard", site, [&] { return ops::shard(world); });
  }

  // Random order, another one each epoch and each pass of a repeat unless reshuffle_each_epoch is false. The order depends
  // on (seed, epoch, pass) alone. Over a source that can be indexed (lists, vectors, ranges, also behind shard, take, skip)
  // positions are shuffled, not elements: buffer_size >= the number of elements is a uniform permutation with no buffer and no
  // fill time. Over a stream it holds buffer_size elements, and an element leaves at most buffer_size - 1 places early.
  // Needs buffer_size >= 1, or UNKNOWN_CARDINALITY for "all".
  Dataset shuffle(std::int64_t buffer_size, ShuffleOptions options = {}, CallSite site = CallSite::here()) const {
    return append("shuffle", site, [&] { return ops::shuffle(buffer_size, options); });
  }

  // Everything before it, count times (-1: for ever). Each pass starts the source anew and reshuffles. Ends at once if a
  // pass of an endless repeat gives neither an element nor an error.
  //   ps::range(2).repeat(2)  ->  0 1 0 1
  Dataset repeat(std::int64_t count = -1, CallSite site = CallSite::here()) const {
    return append("repeat", site, [&] { return ops::repeat(count); });
  }

  // At most the first count elements (-1: all). What lies behind is not computed, but for what was already under way.
  // Errors pass and do not count.
  //   ps::range(10).take(3)  ->  0 1 2
  Dataset take(std::int64_t count, CallSite site = CallSite::here()) const {
    return append("take", site, [&] { return ops::take(count); });
  }

  // All but the first count elements (-1: none is left). Errors pass and do not count.
  //   ps::range(5).skip(3)  ->  3 4
  Dataset skip(std::int64_t count, CallSite site = CallSite::here()) const {
    return append("skip", site, [&] { return ops::skip(count); });
  }

  // ------------------------------------------------------------------------------------------------ transform

  // f(element), for every element. Up to `parallelism` calls run at once. Say {.blocks = true} if f waits (reads files): it
  // then runs on a thread pool from the start; left open, the controller finds out within a second.
  //   ps::range(3).map([](std::int64_t x) { return 2 * x; })  ->  0 2 4
  template <class F>
    requires detail::ElementFunction<F, T>
  auto map(F function, Tunable parallelism = AUTOTUNE, MapOptions options = {}, CallSite site = CallSite::here()) const {
    using U = detail::Result<F, T>;
    return append<U>("map", site, [&] {
      check_hint(options.bytes_hint);
      return ops::map(std::make_shared<detail::MapFunction<F, T>>(std::move(function)), parallelism, options);
    });
  }

  // Keeps the elements for which predicate(const T&) is true. The predicate must not wait (for files, a server): it always runs on
  // the cores, never on the thread pool. Let a map before it fetch what it looks at.
  //   ps::range(5).filter([](std::int64_t x) { return x % 2 == 0; })  ->  0 2 4
  template <class F>
    requires detail::ElementFunction<F, const T&>
  Dataset filter(F predicate, FilterOptions options = {}, CallSite site = CallSite::here()) const {
    return append("filter", site, [&] {
      return ops::filter(std::make_shared<detail::FilterFunction<F, T>>(std::move(predicate)), options);
    });
  }

  // The elements of what f returns, one after the other: a Dataset<U> (run on the calling thread, all its elements are held),
  // a std::vector<U>, a Tensor's rows, or any type with ps::Unbatch.
  //   ps::range(4).flat_map([](std::int64_t x) { return ps::range(x); })  ->  0 0 1 0 1 2
  template <class F>
    requires detail::ElementFunction<F, T>
  auto flat_map(F function, Tunable parallelism = AUTOTUNE, MapOptions options = {}, CallSite site = CallSite::here()) const {
    using Apart = detail::Flatten<detail::Result<F, T>>;
    using U = typename Apart::value_type;
    return append<U>("flat_map", site, [&] {
      check_hint(options.bytes_hint);
      return ops::flat_map(std::make_shared<detail::ManyFunction<F, T, U, Apart>>(std::move(function)), parallelism, options);
    });
  }

  // The rows of each element, as elements of their own. Nothing is copied. An element without rows gives nothing.
  //   ps::range(5).batch(2).unbatch()  ->  0 1 2 3 4
  auto unbatch(CallSite site = CallSite::here()) const
    requires Unbatchable<T>
  {
    using U = typename Unbatch<T>::value_type;
    return append<U>("unbatch", site, [&] {
      return ops::unbatch(std::make_shared<detail::ManyFunction<detail::Identity, T, U, Unbatch<T>>>(detail::Identity{}));
    });
  }

  // batch_size elements together, contiguous where ps::Collate says so. The last batch of an epoch may be smaller, or is left
  // out with {.drop_remainder = true}. Holds batch_size elements. An element that does not fit (another shape) is
  // reported as an error in its place; the batch goes on with its neighbours.
  //   ps::range(5).batch(2)  ->  [0, 1] [2, 3] [4]
  //   ps::range(5).batch(2, {.drop_remainder = true})  ->  [0, 1] [2, 3]
  auto batch(std::int64_t batch_size, BatchOptions options = {}, CallSite site = CallSite::here()) const {
    static_assert(Batchable<T>, "batch(): elements of this type cannot be put together; give the type a ps::Collate, or map to "
                                "one that has it, before batch()");
    return append<Batch<T>>("batch", site, [&] {
      return ops::batch(batch_size, std::make_shared<detail::TypedBatchFactory<T>>(), options);
    });
  }

  // Leaves out failed elements, counting them in RunStats::dropped. For a limit and a report use RunOptions::on_error.
  Dataset ignore_errors(CallSite site = CallSite::here()) const {
    return append("ignore_errors", site, [&] { return ops::ignore_errors(); });
  }

  // Up to buffer_size elements wait here, ready for what follows (AUTOTUNE: the controller says how many). Needs >= 0.
  Dataset prefetch(Tunable buffer_size = AUTOTUNE, CallSite site = CallSite::here()) const {
    return append("prefetch", site, [&] { return ops::prefetch(buffer_size); });
  }

  // transform(*this): for functions that add several ops.
  //   auto crops = paths.apply(ps::imagenet::load_crops(config));
  template <class Transform>
    requires std::invocable<Transform, const Dataset&>
  auto apply(Transform&& transform) const {
    return std::invoke(std::forward<Transform>(transform), *this);
  }

  // An op of your own (op.h). It must take elements of type T and give elements of type U. Nobody checks that: otherwise memory is
  // read as what it is not.
  template <class U = T>
  Dataset<U> then(OpRef op, CallSite site = CallSite::here()) const {
    return Dataset<U>(graph::append(node_, std::move(op), site));
  }

  // ------------------------------------------------------------------------------------------------ run

  // Elements per epoch, INFINITE_CARDINALITY (-1) or UNKNOWN_CARDINALITY (-2), as far as it is known without running.
  std::int64_t cardinality() const { return graph::cardinality(node_); }

  // Starts a run. Nothing is read before its first request: of an element, or of its knobs.
  Run<T> start(RunOptions options = {}) const { return Run<T>(detail::start_run(node_, options)); }

  // A loop over the dataset is one epoch: epoch 0 the first time, then 1, 2, ... (also if an earlier loop was left early).
  // The number belongs to this very description and its copies; train.take(1) counts for itself.
  Iterator<T> begin() const {
    return Iterator<T>(detail::start_run(node_, {.epochs = 1, .first_epoch = graph::take_epoch(node_)}));
  }
  std::default_sentinel_t end() const noexcept { return {}; }

  const graph::NodeRef& node() const noexcept { return node_; }

 private:
  template <class U = T, class Make> Dataset<U> append(const char* op, CallSite site, Make&& make) const {
    return Dataset<U>(graph::build(node_, op, site, std::forward<Make>(make)));
  }

  static void check_hint(const BytesHint& hint) {
    if (!hint || hint.input_type() == typeid(T)) return;
    throw Error(ErrorCode::invalid_argument, "bytes_hint must take the function's own input type, but takes another one");
  }

  graph::NodeRef node_;
};

// The chain, one op a line, with parameters and the user's file and line.
template <class T> std::string describe(const Dataset<T>& dataset) { return graph::describe(dataset.node()); }

}  // namespace penstock

#pragma GCC visibility pop
