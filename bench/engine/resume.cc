// What save points cost a run that is not resumed, what they save one that is, and what a checkpoint takes.
//
//   shuffled, taken    numbers behind a shuffle over a stream, and behind a take: beside the same without save points,
//                      in turns
//   files              16 files of 128 MiB with lines of 1,000 bytes, read in turn, a checksum, batch(128), resumed in
//                      the middle of the epoch: until the first batch is there, and how many checksums that took;
//                      with_shuffle: shuffle(10,000) before the checksum. replay: the same without its save point
//   checkpoint         checkpoint() and to_bytes() of these, and of a pipeline by position
#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/engine/temporary_file.h"
#include "bench/engine/turns.h"
#include "lib/base/fnv1a.h"
#include "lib/runtime/start_run.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kNumbers = 2'000'000, kFiles = 16, kBatch = 128, kHeld = 10'000;
constexpr std::size_t kFile = 128 << 20, kLine = 1000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr exec::SaveSpacing kNone{.slots = kNever, .shortest_ns = kNever, .longest_ns = kNever};

template <class T> Cost drained(const Dataset<T>& data, std::int64_t expected, const exec::SaveSpacing& spacing) {
  const Meter meter;
  std::int64_t count = 0;
  Run<T> run(runtime::start_run(data.node(), {}, autotune::default_policy, spacing));
  while (run.next()) ++count;
  if (count != expected) throw std::runtime_error("resume: expected " + std::to_string(expected) + " elements");
  return meter.stop();
}

template <class T>
void add_cost(const char* variant, const Dataset<T>& data, std::int64_t elements, int rounds, Report& report) {
  const Turns turns = take_turns(
      rounds, [&] { return drained(data, elements, {}); }, [&] { return drained(data, elements, kNone); });
  const double percent = turns.overhead.median;
  const double ns = ns_per(turns.best.cpu_s, kNumbers) * percent / 100;
  Row row{"resume", variant, kNumbers, turns.best, {{"overhead_percent", percent}, {"overhead_ns", ns}}, {}};
  row.bars = {{"overhead_ns", 3, true}};
  report.add(row);
}

// There while this lives.
class TextFile {
 public:
  TextFile() {
    std::ofstream out(file_.path(), std::ios::binary);
    for (std::size_t written = 0; written + kLine <= kFile; written += kLine, ++lines_)
      out << std::string(kLine - 1, static_cast<char>('a' + lines_ % 26)) << '\n';
    if (!out.flush()) throw std::runtime_error("resume: cannot write " + file_.path());
  }
  std::string path() const { return file_.path(); }
  std::int64_t lines() const { return lines_; }

 private:
  const TemporaryFile file_{"resume"};
  std::int64_t lines_ = 0;
};

using Calls = std::shared_ptr<std::atomic<std::int64_t>>;

Dataset<std::vector<std::int64_t>> batches(const TextFile& file, bool shuffles, const Calls& calls) {
  const auto decode = [calls](const std::string& line) {
    calls->fetch_add(1, std::memory_order_relaxed);
    return static_cast<std::int64_t>(fnv1a(line));  // 1 to 2 us
  };
  const auto open = [](const std::string& path) { return lines({path}); };
  auto read = from_vector(std::vector<std::string>(kFiles, file.path())).interleave(open, {.cycle_length = kFiles});
  if (shuffles) read = read.shuffle(kHeld, {.seed = 1});
  return read.map(decode).batch(kBatch);
}

std::shared_ptr<Checkpoint> behind(const Dataset<std::vector<std::int64_t>>& data, std::int64_t elements) {
  auto run = data.start();
  for (std::int64_t i = 0; i < elements; ++i) run.next();
  return std::make_shared<Checkpoint>(run.checkpoint());
}

struct Bars {
  double seconds;
  std::int64_t calls;
};

void add_resume(const std::string& variant, const Dataset<std::vector<std::int64_t>>& data,
                const std::shared_ptr<const Checkpoint>& from, const Calls& calls, const Bars* bars, Report& report) {
  calls->store(0);
  const Meter meter;
  auto run = data.start({.resume_from = from});
  if (!run.next()) throw std::runtime_error("resume: nothing was left");
  const Cost cost = meter.stop();
  Row row{"resume", variant, 1, cost, {{"seconds", cost.wall_s}, {"calls", static_cast<double>(calls->load())}}, {}};
  if (bars != nullptr) row.bars = {{"seconds", bars->seconds, true}, {"calls", static_cast<double>(bars->calls), true}};
  report.add(row);
}

template <class T>
void add_checkpoint(const std::string& variant, const Run<T>& run, std::int64_t held, Report& report) {
  constexpr int kTimes = 200;
  std::size_t bytes = 0;
  const Meter meter;
  for (int i = 0; i < kTimes; ++i) bytes = run.checkpoint().to_bytes().size();
  const Cost cost = meter.stop();
  Row row{"resume", variant, kTimes, cost, {{"us", 1e6 * cost.wall_s / kTimes}, {"bytes", static_cast<double>(bytes)}},
          {}};
  if (held > 0) {
    row.figures.emplace_back("bytes_each", static_cast<double>(bytes) / static_cast<double>(held));
    row.bars = {{"bytes_each", 2, true}};
  }
  report.add(row);
}

void add_checkpoints(const TextFile& file, Report& report) {
  const auto calls = std::make_shared<std::atomic<std::int64_t>>(0);
  for (const bool shuffles : {false, true}) {
    auto run = batches(file, shuffles, calls).start();
    for (int i = 0; i < 1000; ++i) run.next();
    add_checkpoint(shuffles ? "checkpoint_with_shuffle" : "checkpoint_files", run, shuffles ? kHeld : 0, report);
  }
  auto by_position =
      range(kNumbers).shuffle(kNumbers, {.seed = 1}).map([](std::int64_t x) { return x; }).batch(64).start();
  for (int i = 0; i < 100; ++i) by_position.next();
  add_checkpoint("checkpoint_by_position", by_position, 0, report);
}

}  // namespace

void run_resume(const CaseSettings& settings, Report& report) {
  const auto numbers = range(kNumbers).map([](std::int64_t x) { return x; });
  add_cost("shuffled", numbers.shuffle(1000, {.seed = 1}), kNumbers, settings.rounds_or(9), report);
  add_cost("taken", numbers.take(kNumbers - 1), kNumbers - 1, settings.rounds_or(9), report);
  const TextFile file;
  const std::int64_t middle = kFiles * file.lines() / kBatch / 2;
  for (const bool shuffles : {false, true}) {
    const auto calls = std::make_shared<std::atomic<std::int64_t>>(0);
    const auto data = batches(file, shuffles, calls);
    const auto from = behind(data, middle);
    const Bars bars = shuffles ? Bars{2, kHeld + 256} : Bars{0.2, kHeld};
    const std::string name = shuffles ? "files_with_shuffle" : "files";
    add_resume(name, data, from, calls, &bars, report);
    const auto replay = std::make_shared<Checkpoint>(*from);
    replay->save_point.clear();
    replay->since_save_point = 0;
    add_resume(name + "_replay", data, replay, calls, nullptr, report);
  }
  add_checkpoints(file, report);
}

}  // namespace penstock::bench
