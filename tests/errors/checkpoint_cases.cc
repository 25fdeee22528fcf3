// Checkpoints that were damaged, made by hand, or are resumed with other data.
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>

#include "lib/core/crc32.h"
#include "tests/errors/catalogue.h"

namespace penstock::errors {
namespace {

using Number = std::shared_ptr<std::int64_t>;

template <class T> Checkpoint behind(const Dataset<T>& data, int elements) {
  auto run = data.start();
  for (int i = 0; i < elements; ++i) run.next();
  return run.checkpoint();
}

template <class T> void resume(const Dataset<T>& data, const Checkpoint& saved) {
  read(data, {.resume_from = std::make_shared<Checkpoint>(saved)});
}

// Counts up to a limit that the test may lower.
Dataset<std::int64_t> up_to(const Number& limit) {
  return from_generator(
      [limit, next = std::int64_t{0}]() mutable { return next < *limit ? std::optional(next++) : std::nullopt; });
}

std::string whole() { return behind(range(10), 3).to_bytes(); }

void put(std::string& bytes, std::size_t at, std::uint32_t number) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(number >> (8 * i) & 0xFFU);
}

// The bytes with the right length and checksum behind them.
std::string sealed(std::string bytes) {
  bytes += "    ";
  put(bytes, 12, static_cast<std::uint32_t>(bytes.size()));
  put(bytes, bytes.size() - 4, crc32(std::string_view(bytes).substr(0, bytes.size() - 4)));
  return bytes;
}

// A whole checkpoint in which one byte is another one, and the checksum says so.
std::string forged(std::size_t at, char value) {
  std::string bytes = whole();
  bytes.resize(bytes.size() - 4);
  bytes[at] = value;
  return sealed(bytes);
}

Cases byte_cases() {
  const auto of = [](const std::string& bytes) { return [bytes] { Checkpoint::from_bytes(bytes); }; };
  const std::string good = whole();
  std::string changed = good, endless = good.substr(0, 59) + std::string((1 << 20) + 1, 'x');
  changed[30] ^= 1;
  return {
      {"a checkpoint of no bytes", of("")},
      {"a checkpoint that ends in its header", of(good.substr(0, 15))},
      {"a checkpoint that is cut", of(good.substr(0, 50))},
      {"a checkpoint with bytes behind it", of(good + "more")},
      {"a checkpoint with a changed byte", of(changed)},
      {"a checkpoint of version 0", of(forged(8, 0))},
      {"a checkpoint of a later version", of(forged(8, 9))},
      {"a checkpoint that is too short", of(sealed(good.substr(0, 40)))},
      {"a checkpoint with too long a pipeline", of(sealed(endless))},
      {"a checkpoint with a flag of 2", of(forged(37, 2))},
      {"a checkpoint with an element too much", of(forged(38, 0))},
  };
}

Cases field_cases() {
  const auto with = [](auto change) {
    return [change] {
      Checkpoint saved = behind(range(10), 3);
      change(saved);
      resume(range(10), saved);
    };
  };
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  return {
      {"a checkpoint of no kind", with([](auto& c) { c.kind = static_cast<Checkpoint::Kind>(7); })},
      {"a checkpoint behind -1 elements", with([](auto& c) { c.delivered = -1; })},
      {"a checkpoint behind too many elements", with([](auto& c) { c.delivered = largest; })},
      {"a checkpoint with more errors than elements", with([](auto& c) { c.errors_since = 4; })},
      {"a checkpoint without the element that it stands behind", with([](auto& c) { c.has_last = false; })},
      {"a checkpoint of which the other kind is known", with([](auto& c) { c.kind = Checkpoint::Kind::replay; })},
      {"a checkpoint behind an element that is not there", with([](auto& c) { c.last.ordinal = 77; })},
      {"a checkpoint in a pass that is not there", with([](auto& c) { c.last.pass = 3; })},
      {"a checkpoint with too long a pipeline, to_bytes",
       [] {
         Checkpoint saved = behind(range(10), 3);
         saved.pipeline = std::string((1 << 20) + 1, 'x');
         (void)saved.to_bytes();
       }},
  };
}

// A take behind a map, which is resumed from a save point.
Cases save_point_cases() {
  const auto data = [] { return range(100'000).map([](std::int64_t value) { return value; }).take(90'000); };
  const auto with = [=](auto change) {
    return [=] {
      Checkpoint saved = behind(data(), 50);
      change(saved);
      resume(data(), saved);
    };
  };
  const auto bytes_with_size = [=](char size) {
    std::string bytes = behind(data(), 50).to_bytes();
    bytes.resize(bytes.size() - 4);
    bytes[70] = size;
    return [bytes] { Checkpoint::from_bytes(sealed(bytes)); };
  };
  return {
      {"a checkpoint without its save point", with([](auto& c) { c.save_point.clear(), c.since_save_point = 1; })},
      {"a checkpoint at an epoch's end with a save point", with([](auto& c) { c.epoch_ended = true; })},
      {"a checkpoint with more elements since than there were", with([](auto& c) { c.since_save_point = 51; })},
      {"a checkpoint with another save point", with([](auto& c) { c.save_point.pop_back(); })},
      {"a checkpoint with a save point that is too long", bytes_with_size(1)},
  };
}

Cases data_cases() {
  const auto same = [](std::int64_t value) { return value; };
  return {
      {"resume with another pipeline", [] { resume(range(10).skip(5), behind(range(10).take(5), 1)); }},
      {"resume with a list of other files",
       [] {
         const auto list = [](const char* second) { return from_vector(std::vector<std::string>{"a.jpg", second}); };
         resume(list("c.jpg"), behind(list("b.jpg"), 1));
       }},
      {"resume an order that was drawn", [] { resume(range(10).shuffle(10), behind(range(10).shuffle(10), 1)); }},
      {"resume with a pipeline whose text goes on",
       [] {
         Checkpoint saved = behind(range(10).take(5), 1);
         saved.pipeline.pop_back();
         resume(range(10).take(5), saved);
       }},
      {"resume by replay what was saved by position",
       [=] {
         Checkpoint saved = behind(range(10).map(same).take(9), 3);
         saved.kind = Checkpoint::Kind::position;
         saved.save_point.clear();
         saved.since_save_point = 0;
         resume(range(10).map(same).take(9), saved);
       }},
      {"a checkpoint within an epoch that comes in any order",
       [=] { behind(range(10).map(same, 2, {.order = Order::arbitrary}), 3); }},
      {"resume a generator that ends earlier now",
       [] {
         const auto limit = std::make_shared<std::int64_t>(9);
         const auto saved = behind(up_to(limit), 4);
         *limit = 2;
         resume(up_to(limit), saved);
       }},
      {"resume a take behind a generator that ends earlier now",
       [=] {
         const auto limit = std::make_shared<std::int64_t>(9);
         const auto data = up_to(limit).map(same).take(8);
         const auto saved = behind(data, 4);
         *limit = 2;
         resume(data, saved);
       }},
  };
}

// Rank 0 of three resumes what rank 0 of two has saved behind so many elements.
template <class Make> std::function<void()> on_three_ranks(const Make& make, int elements = 2) {
  return [=] { resume(make(World{.size = 3, .rank = 0}), behind(make(World{.size = 2, .rank = 0}), elements)); };
}

// The last element is said to be another one.
std::function<void()> with_last(std::int64_t ordinal) {
  return [=] {
    const auto of = [](int ranks) { return range(24).shard(World{.size = ranks, .rank = 0}).batch(12 / ranks); };
    Checkpoint saved = behind(of(2), 1);
    saved.last.ordinal = ordinal;
    resume(of(3), saved);
  };
}

Cases rank_cases() {
  const auto fails_at_0 = [](std::int64_t value) -> std::int64_t {
    if (value == 0) throw std::runtime_error("no 0");
    return value;
  };
  const auto saved_behind_an_error = [=] {
    const auto of = [=](int ranks) { return range(24).shard(World{.size = ranks, .rank = 0}).map(fails_at_0); };
    auto run = of(2).start();
    try {
      run.next();
    } catch (const Error&) {
    }
    resume(of(3), run.checkpoint());
  };
  const auto behind_failed = [=] {
    const auto of = [=](int ranks) {
      return range(24).shard(World{.size = ranks, .rank = 0}).map(fails_at_0).batch(2);
    };
    auto run = of(2).start({.on_error = skip_all()});
    run.next();
    resume(of(3), run.checkpoint());
  };
  return {
      {"resume on other ranks behind a filter", on_three_ranks([](const World& world) {
         return range(24).shard(world).filter([](std::int64_t x) { return x % 2 == 0; });
       })},
      {"resume on other ranks where each takes a few",
       on_three_ranks([](const World& world) { return range(24).shard(world).take(5); })},
      {"resume on other ranks in the middle of their step",
       on_three_ranks([](const World& world) { return range(24).shard(world).batch(2); })},
      {"resume on other ranks behind failed elements", behind_failed},
      {"resume on other ranks behind all of an epoch",
       on_three_ranks([](const World& world) { return range(5).shard(world); }, 3)},
      {"resume on other ranks behind an error alone", saved_behind_an_error},
      {"resume on other ranks with another rank's element", with_last(11)},
      {"resume on other ranks behind an element that is not there", with_last(50)},
  };
}

}  // namespace

Cases checkpoint_cases() {
  Cases all = byte_cases();
  for (const Cases& more : {field_cases(), save_point_cases(), data_cases(), rank_cases()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace penstock::errors
