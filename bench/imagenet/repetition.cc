#include "bench/imagenet/repetition.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "bench/imagenet/digest.h"
#include "bench/imagenet/interrupt.h"
#include "bench/imagenet/process.h"
#include "bench/meter.h"
#include "lib/base/payload_pool.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

// How long Ctrl-C may go unseen while no batch comes.
constexpr auto patience = std::chrono::milliseconds(100);

double seconds_since(std::int64_t begin_ns) { return 1e-9 * static_cast<double>(now_ns() - begin_ns); }

std::int64_t fresh_blocks() {
  const PayloadPoolStats stats = payload_pool().stats();
  return static_cast<std::int64_t>(stats.allocations - stats.reuses);
}

// What the counters of the pipeline said at some moment.
struct Counted {
  std::int64_t files, images, own, without_boxes, missing, clamped, damaged;
  std::array<std::int64_t, image::refusal_count> refused{};

  explicit Counted(const imagenet::Counters& now)
      : files(now.files),
        images(now.images),
        own(now.decoded_own),
        without_boxes(now.without_examples),
        missing(now.missing_annotations),
        clamped(now.clamped_boxes),
        damaged(now.damaged) {
    std::ranges::copy(now.refused, refused.begin());
  }
};

// The consumer's side of a repetition: looks at each batch and keeps time.
class Consumer {
 public:
  Consumer(const ImagenetOptions& options, const RepetitionSettings& settings, Measurement& result, Progress& progress)
      : options_(options),
        settings_(settings),
        result_(result),
        progress_(progress),
        allocations_(allocation_count()),
        fresh_blocks_(fresh_blocks()) {
    reset_peak_memory();
    begin_ns_ = now_ns();
  }

  void begin_epoch() { last_file_ = -1; }

  // Runs `next` and counts the time as waiting.
  template <class Next> decltype(auto) wait_for(Next&& next) {
    const std::int64_t asked = now_ns();
    decltype(auto) answer = next();
    waited_ns_ += now_ns() - asked;
    progress_.update(result_.images, wait_share());
    return answer;
  }

  void take(const SampleBatch& batch) {
    if (result_.batches++ == 0) take_first(batch);
    result_.samples += batch.size();
    count_files(batch.column<&imagenet::Example::file>());
    if (settings_.hash) digest_.add(batch);
    if (settings_.paced) play_step(options_.step_time, options_.step_cpu);
  }

  bool has_enough() const { return options_.steps && result_.batches >= *options_.steps; }

  void finish() {
    const Cost cost = meter_.stop();
    result_.wall_s = cost.wall_s;
    result_.cpu_s = cost.cpu_s;
    result_.foreign_cores = cost.foreign_cores;
    result_.wait_share = wait_share();
    result_.allocations = allocation_count() - allocations_;
    result_.fresh_blocks = fresh_blocks() - fresh_blocks_;
    result_.peak_rss_bytes = peak_memory_bytes();
    if (settings_.hash) result_.digest = digest_.text();
    result_.interrupted = interrupted();
  }

 private:
  void take_first(const SampleBatch& batch) {
    result_.ttfb_s = seconds_since(begin_ns_);
    if (settings_.on_first) settings_.on_first(batch);
  }

  // Samples of one file follow each other.
  void count_files(const std::vector<std::int64_t>& files) {
    for (const std::int64_t file : files)
      if (std::exchange(last_file_, file) != file) ++result_.images;
  }

  double wait_share() const {
    const std::int64_t passed = now_ns() - begin_ns_;
    return passed > 0 ? static_cast<double>(waited_ns_) / static_cast<double>(passed) : 0;
  }

  const ImagenetOptions& options_;
  const RepetitionSettings settings_;
  Measurement& result_;
  Progress& progress_;
  std::int64_t allocations_;
  std::int64_t fresh_blocks_;
  Meter meter_;
  std::int64_t begin_ns_ = 0;
  std::int64_t waited_ns_ = 0;
  std::int64_t last_file_ = -1;
  Digest digest_;
};

// Whether the epoch was delivered to its end.
template <class Keep> bool drain_epoch(Run<SampleBatch>& run, Consumer& consumer, const Keep& keep) {
  consumer.begin_epoch();
  while (!interrupted() && !consumer.has_enough()) {
    auto next = consumer.wait_for([&run] { return run.next_for(patience); });
    if (next.at_end()) return true;
    if (!next.is_element()) continue;
    consumer.take(*next.value);
    keep(std::move(*next.value));
  }
  return false;
}

// Whether all epochs were.
template <class Keep> bool drain(Run<SampleBatch>& run, std::int64_t epochs, Consumer& consumer, const Keep& keep) {
  for (std::uint32_t epoch = 0; epoch < static_cast<std::uint32_t>(epochs); ++epoch) {
    run.epoch(epoch);
    if (!drain_epoch(run, consumer, keep)) return false;
  }
  return true;
}

// What became of the files. The maps that read count them, the batches tell which were delivered, the run counts its
// errors. `unfinished` is what remains, so at the end of a run it is 0 only if nothing was lost or came twice.
void add_up(Measurement& result, const RunStats& stats) {
  result.skipped = stats.skipped;
  result.failed = stats.errors - stats.skipped;
  result.unfinished = result.files_seen - result.images - result.skipped - result.failed;
}

}  // namespace

Bench::Bench(const ImagenetOptions& options, const Files& files, FileOrder order)
    : options_(options),
      counters_(std::make_shared<imagenet::Counters>()),
      pipeline_(make_pipeline(options, files, order, counters_)) {}

Measurement Bench::run(const RepetitionSettings& settings, Progress& progress) {
  Measurement result = run_until_error(settings, progress);
  if (result.error) std::rethrow_exception(result.error);
  return result;
}

Measurement Bench::run_until_error(const RepetitionSettings& settings, Progress& progress) {
  Measurement result;
  kept_.clear();
  const Counted before(*counters_);
  auto run = pipeline_.start(run_options(options_));
  Consumer consumer(options_, settings, result, progress);
  const auto keep = [&](SampleBatch&& batch) {
    if (static_cast<std::int64_t>(kept_.size()) < settings.keep) kept_.push_back(std::move(batch));
  };
  bool complete = false;
  try {
    complete = drain(run, options_.epochs, consumer, keep);
  } catch (...) {
    result.error = std::current_exception();
  }
  consumer.finish();
  const Counted after(*counters_);
  result.decoded = after.images - before.images;
  result.decoded_own = after.own - before.own;
  std::ranges::transform(after.refused, before.refused, result.refused.begin(), std::minus<>());
  // Files without a box give no sample, but are work done. What was read ahead in vain is not
  // counted.
  result.without_boxes = after.without_boxes - before.without_boxes;
  if (complete) result.images += result.without_boxes;
  result.missing_xml = after.missing - before.missing;
  result.clamped_boxes = after.clamped - before.clamped;
  result.damaged = after.damaged - before.damaged;
  const RunStats stats = run.stats();
  result.errors = stats.errors;
  result.memory_peak = stats.memory_peak;
  result.overshoot_bytes = stats.overshoot_bytes;
  result.copied_bytes = stats.copied_bytes;
  result.snapshot = run.snapshot();
  result.explanation = run.explain();
  result.files_seen = after.files - before.files;
  add_up(result, stats);
  last_ = result;
  return result;
}

Measurement Bench::run_cached(Progress& progress) {
  Measurement result;
  Consumer consumer(options_, {}, result, progress);
  for (std::int64_t i = 0; !kept_.empty() && i < last_.batches && !interrupted(); ++i) {
    const auto place = static_cast<std::size_t>(i) % kept_.size();
    if (place == 0) consumer.begin_epoch();
    consumer.take(consumer.wait_for([&]() -> const SampleBatch& { return kept_[place]; }));
  }
  consumer.finish();
  result.files_seen = result.images;
  return result;
}

}  // namespace penstock::bench
