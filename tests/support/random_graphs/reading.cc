#include "tests/support/random_graphs/reading.h"

#include <chrono>
#include <limits>
#include <thread>

namespace random_graphs {

using Clock = std::chrono::steady_clock;
using Status = ps::detail::RunCore::Status;

namespace {

constexpr std::size_t kLittleMemory = 20'000;

// Each on or off. Nothing is drawn for it, so that seeds mean the same schedules as ever.
ps::Rewrites rewrites_of(std::uint64_t bits) {
  return {.noop_elimination = (bits & 1) != 0,
          .selection_pushdown = (bits & 2) != 0,
          .map_fusion = (bits & 4) != 0,
          .map_and_filter_fusion = (bits & 8) != 0};
}

}  // namespace

Reading::Reading(const Driver& driver, const Built& built, const ps::RunOptions& options, Random& random,
                 Coverage& coverage)
    : built_(built),
      random_(random),
      coverage_(coverage),
      run_(driver.start(built.node, options, random, coverage)),
      on_threads_(driver.on_threads),
      patient_(random.one_in(2)),
      small_(options.memory_bytes > 0 && options.memory_bytes < kLittleMemory) {
  ++coverage.runs;
  ++coverage.epochs;
  if (driver.on_threads && random.one_in(2)) mover_.emplace(run_, random.next(), coverage);
}

void Reading::begin_epoch(std::uint32_t epoch) {
  run_->begin_epoch(epoch);
  ++coverage_.epochs;
}

Deliveries Reading::read(std::size_t at_most) {
  Deliveries deliveries;
  Delivery delivery;
  while (deliveries.size() < at_most && read_one(delivery)) {
    coverage_.errors += delivery.failed ? 1 : 0;
    ++(delivery.failed ? failures_ : elements_);
    deliveries.push_back(std::move(delivery));
  }
  check_counts();
  if (saw_wait_) ++coverage_.memory_waits;
  small_ = small_ && !saw_wait_;
  saw_wait_ = false;
  return deliveries;
}

void Reading::check_counts() const {
  const ps::RunStats stats = run_->stats();
  if (stats.delivered == elements_ && stats.errors - stats.skipped == failures_) return;
  throw Failure("RunStats tells of " + std::to_string(stats.delivered) + " elements, " + std::to_string(stats.errors) +
                " errors and " + std::to_string(stats.skipped) + " skipped; delivered were " +
                std::to_string(elements_) + " and " + std::to_string(failures_));
}

bool Reading::read_one(Delivery& delivery) {
  delivery = {};
  ps::Element element;
  try {
    if (!next(element)) return false;
    delivery.value = built_.read(element);
  } catch (const ps::ElementError& error) {
    delivery.failed = true;
    delivery.place = error.place();
    delivery.cause = ps::message_of(error.cause());
    coverage_.add_fault(delivery.cause);
    const bool is_lost =
        delivery.place.op == model::name_of(model::Kind::own_async) && !delivery.cause.starts_with("fails");
    coverage_.lost += is_lost ? 1 : 0;
  }
  if (small_ && !saw_wait_) saw_wait_ = some_stage_waits_for_memory(run_->snapshot());
  return true;
}

bool Reading::next(ps::Element& element) {
  // Drawn once: how often a wait is in vain hangs on the clock, and must not move what is drawn next.
  const std::chrono::microseconds patience(random_.below(2'000));
  for (;;) {
    const auto deadline = Clock::now() + patience;
    const Status status = run_->next(element, patient_ ? nullptr : &deadline);
    if (status != Status::timeout) return status == Status::element;
  }
}

std::int64_t Reading::abandon(Courier& courier) {
  ++coverage_.abandonments;
  mover_.reset();
  courier.hold();
  if (on_threads_) std::this_thread::sleep_for(std::chrono::microseconds(random_.below(300)));  // read-ahead goes on
  run_.reset();
  return courier.release();
}

ps::RunOptions draw_options(Random& random) {
  ps::RunOptions options;
  options.threads = static_cast<int>(random.between(1, 8));
  options.memory_bytes = random.one_in(2) ? static_cast<std::size_t>(random.between(1, kLittleMemory)) : 64 * ps::MiB;
  options.open_io = static_cast<int>(random.pick(std::vector<std::int64_t>{1, 2, 64}));
  options.seed = random.next();
  options.tune = random.one_in(2);
  options.rewrites = rewrites_of(options.seed);
  return options;
}

}  // namespace random_graphs
