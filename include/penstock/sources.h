// Where datasets begin.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/dataset.h>

#pragma GCC visibility push(default)

namespace penstock {

// start, start + step, ... up to but without stop. step may be negative, not 0.
//   ps::range(0, 10, 3)  ->  0 3 6 9
Dataset<std::int64_t> range(std::int64_t stop, CallSite site = CallSite::here());
Dataset<std::int64_t> range(std::int64_t start, std::int64_t stop, std::int64_t step = 1, CallSite site = CallSite::here());

// The paths in a text file, one per line: white space around them is cut off, blank lines are left out, relative paths are
// relative to the list's folder. The file is read now; its order is the dataset's. GraphError if it cannot be read or is empty.
Dataset<std::string> from_file_list(const std::string& path, CallSite site = CallSite::here());

// Copies of the given values. T must be copyable: move-only elements come from from_generator.
//   ps::from_vector(std::vector{3, 1, 4})  ->  3 1 4
template <std::copy_constructible T>
Dataset<T> from_vector(std::vector<T> values, CallSite site = CallSite::here()) {
  return Dataset<T>(graph::build(nullptr, "from_vector", site, [&] {
    auto count = std::to_string(values.size());
    return ops::indexed_source("from_vector", count + " elements", std::make_shared<detail::VectorSource<T>>(std::move(values)));
  }));
}

// Which pass a generator is asked for.
struct Pass {
  std::uint32_t epoch = 0;
  std::uint32_t pass = 0;  // within the epoch, where the pipeline repeats
};

namespace detail {
template <class G> using Generated = typename std::invoke_result_t<G&>::value_type;

template <class G>
class GeneratorReader final : public SourceReader {
 public:
  explicit GeneratorReader(std::function<G(Pass)> make) : make_(std::move(make)) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override { generator_.emplace(make_(Pass{epoch, pass})); }
  std::optional<Element> next(Context&) override {
    auto value = (*generator_)();
    if (!value) return std::nullopt;
    return Element(std::move(*value));
  }

 private:
  std::function<G(Pass)> make_;
  std::optional<G> generator_;
};

template <class G>
class TypedGeneratorFactory final : public GeneratorFactory {
 public:
  explicit TypedGeneratorFactory(std::function<G(Pass)> make) : make_(std::move(make)) {}
  std::unique_ptr<SourceReader> open() const override { return std::make_unique<GeneratorReader<G>>(make_); }

 private:
  std::function<G(Pass)> make_;
};

template <class G>
Dataset<Generated<G>> generate(std::function<G(Pass)> make, CallSite site) {
  return Dataset<Generated<G>>(graph::build(nullptr, "from_generator", site, [&] {
    return ops::generator(std::make_shared<TypedGeneratorFactory<G>>(std::move(make)));
  }));
}
}  // namespace detail

// What a callable returning std::optional<T> gives until it returns nullopt. Each pass starts from a copy of it. Called by one
// thread at a time.
//   ps::from_generator([i = 0]() mutable { return i < 3 ? std::optional(i++) : std::nullopt; })  ->  0 1 2
template <class G>
  requires std::copy_constructible<G> && std::invocable<G&>
auto from_generator(G generator, CallSite site = CallSite::here()) {
  return detail::generate<G>([generator = std::move(generator)](Pass) { return generator; }, site);
}

// The same with a factory: make(Pass) gives the callable for a pass. For state that cannot be copied.
template <class F>
  requires std::invocable<const F&, Pass>
auto from_generator(F make, CallSite site = CallSite::here()) {
  using G = std::invoke_result_t<const F&, Pass>;
  return detail::generate<G>(std::function<G(Pass)>(std::move(make)), site);
}

}  // namespace penstock

#pragma GCC visibility pop
