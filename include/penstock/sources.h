// Where datasets begin.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <penstock/dataset.h>
#include <penstock/detail/generator.h>
#include <penstock/detail/made.h>
#include <penstock/detail/unavailable.h>
#include <penstock/detail/values_digest.h>
#include <penstock/io.h>

#pragma GCC visibility push(default)

namespace penstock {

// start, start + step, ... up to but without stop. step may be negative, not 0.
//   ps::range(0, 10, 3)  ->  0 3 6 9
Dataset<std::int64_t> range(std::int64_t stop, CallSite site = CallSite::here());
Dataset<std::int64_t> range(std::int64_t start, std::int64_t stop, std::int64_t step = 1,
                            CallSite site = CallSite::here());

// start, start + step, ... without an end: of 2^62 integers nobody sees the last one. They wrap around at 64 bits. A
// run can be resumed anywhere at no cost, and shards and windows of a shuffle are those of positions.
//   ps::counter(10, 5).take(3)  ->  10 15 20
Dataset<std::int64_t> counter(std::int64_t start = 0, std::int64_t step = 1, CallSite site = CallSite::here());

// Random integers from 0 to 2^63 - 1, each equally likely, without an end. The i-th one depends on the seed and i
// alone: it is the same in each pass, epoch and run. (For other numbers in each epoch draw in a map, from
// Context::rng().)
//   auto draws = ps::random(7).map([](std::int64_t x) { return x % 6 + 1; });
Dataset<std::int64_t> random(std::uint64_t seed, CallSite site = CallSite::here());

// The paths in a text file, one per line: white space around them is cut off, blank lines are left out, relative paths
// are relative to the list's folder. The file is read now; its order is the dataset's. GraphError if it cannot be read
// or is empty.
Dataset<std::string> from_file_list(const std::string& path, CallSite site = CallSite::here());

// The files below a folder, as file_paths() in io.h lists them: with one of the extensions, sorted, now. GraphError
// where that has an error.
//   auto pictures = ps::list_files("photos", {".png"}).shuffle(100'000, {.seed = 1});
Dataset<std::string> list_files(const std::string& folder, std::vector<std::string> extensions = {},
                                const ListFilesOptions& options = {}, CallSite site = CallSite::here());

struct LinesOptions {
  // Bytes of the longest line that is one, its end not counted: from 1 to 2^30, default 64 MiB. A longer one is an
  // error in its place, so that a file without line ends does not fill the memory.
  std::int64_t max_line_bytes = std::int64_t{1} << 26;
};

// The lines of text files, one file after the other, read while they are wanted: no file is ever held whole. A line
// ends with a line feed, or a carriage return and a line feed, neither of which it has, or with its file. It may hold
// any other bytes, and none. A file that begins as gzip does (1f 8b) is unpacked while it is read, whatever its name.
//   ps::lines("poem.txt")  ->  "roses are red" "violets are blue"
//   auto corpus = ps::lines({"poem.txt", "train.txt"}).shuffle(10'000, {.seed = 1});
//
// Files are read on a thread that may wait, 256 KiB at a time; a second op, split_lines, makes strings of that on the
// cores. A chunk is an element of the memory budget, and is held until its last line has gone on. A line costs 0.1 us
// of CPU in batches, 0.15 us where the loop takes it by itself; unpacking gives some 300 MB a second and file.
//
// Error elements, each in its place: a file that cannot be opened or read (codes and texts as of read_file() in io.h),
// which costs the rest of that file, as damage does in one that is packed (data_loss); a line longer than
// max_line_bytes (data_loss), which costs that line alone. Reading goes on behind it. ErrorPlace::origin is the file,
// also where a function behind fails. GraphError for a max_line_bytes that cannot be.
//
// How many there are is not known before the end (UNKNOWN_CARDINALITY). Context::ordinal() counts chunks, Stamp::sub
// tells the lines of one apart. A resumed run reads its epoch's files again from the first one, but makes no strings of
// the chunks that it leaves out.
Dataset<std::string> lines(std::vector<std::string> paths, const LinesOptions& options = {},
                           CallSite site = CallSite::here());
template <std::convertible_to<std::string> Path>
Dataset<std::string> lines(const Path& path, const LinesOptions& options = {}, CallSite site = CallSite::here()) {
  return lines(std::vector<std::string>{path}, options, site);
}

// Copies of the given values. T must be copyable: move-only elements come from from_generator. Of text and numbers
// checkpoints know a digest, and refuse to go on with others.
//   ps::from_vector(std::vector{3, 1, 4})  ->  3 1 4
template <std::copy_constructible T> Dataset<T> from_vector(std::vector<T> values, CallSite site = CallSite::here()) {
  return Dataset<T>(graph::build(nullptr, "from_vector", site, [&] {
    auto count = std::to_string(values.size());
    auto digest = detail::digest_of_values(values);
    return ops::indexed_source("from_vector", count + " elements",
                               std::make_shared<detail::VectorSource<T>>(std::move(values)), std::move(digest));
  }));
}

template <class T>
requires(!std::copy_constructible<T>) PENSTOCK_UNAVAILABLE(
    "from_vector(): its elements cannot be copied, which each epoch needs: make them in a from_generator(), or hold "
    "them by std::shared_ptr")
Dataset<T> from_vector(std::vector<T>) { return Dataset<T>(nullptr); }

// A source of your own that makes any element when asked for it (IndexedSource, op.h): records of a file, rows of a
// table. Shuffles and shards behind it choose positions before anything is made. T: the type of what at() gives; a
// value of another type becomes an error element. The name is that of the op, in describe() and errors. GraphError for
// a null pointer.
//   auto records = ps::from_indexed<std::int64_t>(std::make_shared<Squares>(), "squares");
template <class T>
Dataset<T> from_indexed(std::shared_ptr<const IndexedSource> source, const std::string& name = "from_indexed",
                        CallSite site = CallSite::here()) {
  return Dataset<T>(graph::build(
      nullptr, "from_indexed", site,
      [&] {
        const std::string count = source ? std::to_string(source->size()) + " elements" : "";
        return ops::indexed_source(name, count, std::move(source));
      },
      &typeid(T)));
}

// The same of anything with `size()` and `at(std::int64_t) const`, which any thread may call. It is moved or copied
// into the dataset.
//   auto squares = ps::from_indexed(SquareTable{100});
template <detail::Indexable S>
auto from_indexed(S source, const std::string& name = "from_indexed", CallSite site = CallSite::here()) {
  return from_indexed<detail::Indexed<S>>(std::make_shared<detail::ValueSource<S>>(std::move(source)), name, site);
}

template <class S>
requires std::convertible_to<S, std::shared_ptr<const IndexedSource>> PENSTOCK_UNAVAILABLE(
    "from_indexed(): the source does not tell the type of its elements: write it, as in "
    "from_indexed<std::string>(source)")
Dataset<int> from_indexed(const S&) { return Dataset<int>(nullptr); }

// Which pass a generator is asked for.
struct Pass {
  std::uint32_t epoch = 0;
  std::uint32_t pass = 0;  // within the epoch, where the pipeline repeats
};

struct GeneratorOptions {
  // Whether calls wait (for a socket, a file, a queue) rather than compute. One that waits runs on a thread of its own
  // and takes no CPU slot from other functions. Unset: found out while the run goes on, and until then it holds a slot.
  std::optional<bool> blocks = std::nullopt;
};

namespace detail {
template <class F>
concept GeneratorMaker =
    std::invocable<const F&, Pass> && Generator<std::remove_cvref_t<std::invoke_result_t<const F&, Pass>>>;

template <class G> class GeneratorReader final : public SourceReader {
 public:
  explicit GeneratorReader(std::function<G(Pass)> make) : make_(std::move(make)) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override { generator_.emplace(make_(Pass{epoch, pass})); }
  std::optional<Element> next(Context& context) override { return next_of(*generator_, context); }

 private:
  std::function<G(Pass)> make_;
  std::optional<G> generator_;
};

template <class G> class TypedGeneratorFactory final : public GeneratorFactory {
 public:
  explicit TypedGeneratorFactory(std::function<G(Pass)> make) : make_(std::move(make)) {}
  std::unique_ptr<SourceReader> open() const override { return made<SourceReader, GeneratorReader<G>>(make_); }

 private:
  std::function<G(Pass)> make_;
};

template <class G>
Dataset<Generated<G>> generate(std::function<G(Pass)> make, const GeneratorOptions& options, CallSite site) {
  return Dataset<Generated<G>>(graph::build(nullptr, "from_generator", site, [&] {
    return ops::generator(made_shared<GeneratorFactory, TypedGeneratorFactory<G>>(std::move(make)), options.blocks);
  }));
}
}  // namespace detail

// What a callable returning std::optional<T> gives until it returns nullopt. Each pass starts from a copy of it. Called
// by one thread at a time.
//   ps::from_generator([i = 0]() mutable { return i < 3 ? std::optional(i++) : std::nullopt; })  ->  0 1 2
//   ps::from_generator([i = 0]() mutable { return i < 1 ? std::optional(i++) : std::nullopt; }, {.blocks = true})  ->  0
//
// A run that is resumed calls it again from the beginning of the pass, and leaves out what was delivered. Where it
// cannot give that again (it reads a queue, a socket) those are new elements, and lost: such a source is a SourceOp of
// its own whose readers save() (op.h).
//
// An exception is an error element in its place, and the pass goes on with the next call: one that always throws never
// ends. Return nullopt where nothing more can come, or let the consumer stop at an error (RunOptions::on_error).
//
// One that waits should take a Context: its stop token is set when the run is abandoned, or the pass is not wanted any
// more (a take() has enough). It then returns at once, whatever it likes. The run's destructor, and the next pass, wait
// for a call that goes on.
//   auto lines = ps::from_generator([&](ps::Context& context) { return messages.pop(context.stop_token()); });
template <detail::Generator G>
requires(std::copy_constructible<G> &&
         !std::invocable<const G&, Pass>) auto from_generator(G generator, const GeneratorOptions& options = {},
                                                              CallSite site = CallSite::here()) {
  return detail::generate<G>([generator = std::move(generator)](Pass) { return generator; }, options, site);
}

// The same with a factory: make(Pass) gives the callable for a pass. For state that cannot be copied.
template <detail::GeneratorMaker F>
auto from_generator(F make, const GeneratorOptions& options = {}, CallSite site = CallSite::here()) {
  using G = std::invoke_result_t<const F&, Pass>;
  return detail::generate<G>(std::function<G(Pass)>(std::move(make)), options, site);
}

// What from_generator() does not take, so that the compiler can say why.
template <class G>
requires(!detail::Generator<G> && !detail::GeneratorMaker<G>) PENSTOCK_UNAVAILABLE(
    "from_generator(): the callable must take nothing, or ps::Context&, and return a std::optional<T>: the next "
    "element, or std::nullopt "
    "at the end. Or it takes a ps::Pass and returns such a callable")
Dataset<int> from_generator(G, const void* = nullptr) { return Dataset<int>(nullptr); }
template <detail::Generator G>
requires(!std::copy_constructible<G>) PENSTOCK_UNAVAILABLE(
    "from_generator(): the callable cannot be copied, but each pass starts from a copy of it: give a factory, which "
    "makes one for each pass, as in from_generator([](ps::Pass) { return MyGenerator(); })")
Dataset<int> from_generator(G, const void* = nullptr) { return Dataset<int>(nullptr); }

}  // namespace penstock

#pragma GCC visibility pop
