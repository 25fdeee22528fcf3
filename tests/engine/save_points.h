// What tests of save points share: runs that give many of them, and that one goes on at each as if nothing had been.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "autotune/policy.h"
#include "lib/runtime/start_run.h"
#include "tests/engine/support.h"

namespace penstock::testing {

// One before each element.
inline constexpr exec::SaveSpacing kDense{.slots = 1, .shortest_ns = 0, .longest_ns = 0};

template <class T> Run<T> dense_run(const Dataset<T>& data, const RunOptions& options = {}) {
  return Run<T>(runtime::start_run(data.node(), options, autotune::default_policy, kDense));
}

template <class T> std::shared_ptr<const Checkpoint> saved(const Run<T>& run) {
  return std::make_shared<Checkpoint>(Checkpoint::from_bytes(run.checkpoint().to_bytes()));
}

template <class T> std::shared_ptr<const Checkpoint> saved_behind(const Dataset<T>& data, int elements) {
  auto run = dense_run(data, {.serial = true});  // reads no further than it must
  for (int i = 0; i < elements; ++i) run.next();
  return saved(run);
}

// Elements and errors of an epoch, then those of the next.
template <class T> Texts two_epochs(Run<T> run) {
  Texts texts = rest_of(run);
  texts.emplace_back("|");
  run.epoch(run.checkpoint().epoch + 1);
  for (const std::string& text : rest_of(run)) texts.push_back(text);
  return texts;
}

// From each place, by runs that read serially and in parallel, and from a place of a resumed run. Each is one of what
// `make` gives then, as in another process.
template <class Make> void expect_made_again_resumes_anywhere(Make make) {
  const Texts whole = two_epochs(make().start());
  const auto border = std::find(whole.begin(), whole.end(), "|") - whole.begin();
  auto run = dense_run(make(), {.serial = true});
  std::ptrdiff_t with_save_point = 0;
  for (std::ptrdiff_t taken = 0; taken <= border; ++taken) {
    SCOPED_TRACE("behind element " + std::to_string(taken));
    const auto place = saved(run);
    with_save_point += !place->save_point.empty();
    const Texts rest(whole.begin() + taken, whole.end());
    EXPECT_EQ(two_epochs(dense_run(make(), {.resume_from = place})), rest);
    EXPECT_EQ(two_epochs(dense_run(make(), {.serial = true, .resume_from = place})), rest) << "serially";
    auto again = dense_run(make(), {.resume_from = place});
    const std::ptrdiff_t more = (border - taken) / 2;
    for (std::ptrdiff_t i = 0; i < more; ++i) next_text(again);
    const Texts later(whole.begin() + taken + more, whole.end());
    EXPECT_EQ(two_epochs(dense_run(make(), {.resume_from = saved(again)})), later) << "again behind " << more;
    next_text(run);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(with_save_point, 0);
}
template <class T> void expect_resumes_anywhere(const Dataset<T>& data) {
  expect_made_again_resumes_anywhere([&] { return data; });
}

inline std::vector<std::int64_t> few(std::int64_t value) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(value % 3), value);
}

// Not indexable.
inline Dataset<std::int64_t> counted(std::int64_t end) {
  return from_generator([i = std::int64_t{0}, end]() mutable { return i < end ? std::optional(i++) : std::nullopt; });
}

inline std::function<std::int64_t(std::int64_t)> failing_on(std::int64_t bad) {
  return [bad](std::int64_t value) {
    if (value == bad) throw std::runtime_error("bad");
    return value;
  };
}

}  // namespace penstock::testing
