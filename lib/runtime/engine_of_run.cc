// The engine of an EngineRun: made by its first request, taken down at its end.
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "lib/core/clock.h"
#include "lib/exec/queue_launcher.h"
#include "lib/runtime/engine_run.h"
#include "lib/runtime/forks.h"
#include "lib/runtime/run_checks.h"
#include "lib/runtime/runtime.h"

namespace penstock::detail {
namespace {

using exec::Engine;

constexpr std::int64_t kWorthRemembering = 1'000'000'000;  // ns: in less, a controller has found out little
constexpr std::int64_t kNoLimit =
    std::numeric_limits<std::int64_t>::max() / 4;  // bytes: sums with it are still numbers

// A run may end because there is no memory.
template <class Write> void write_if_possible(const char* what, const Write& write) {
  try {
    write();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "penstock: there is no memory to write the %s of a run\n", what);
  }
}

void wait_for_departure(std::shared_ptr<Engine> engine) {
  const auto departure = engine->departure();
  engine.reset();
  departure->wait();
}

}  // namespace

// Started by the first request, so that a description can be turned into a run at no cost.
Engine& EngineRun::engine() {
  check_process();
  if (Engine* const begun = begun_.load(std::memory_order_acquire)) return *begun;
  if (process_.load(std::memory_order_relaxed) == 0)
    process_.store(runtime::process_number(), std::memory_order_relaxed);
  MutexLock lock(mutex_);
  if (!engine_) {
    // resumed at an epoch's end: nothing of that one is left
    const std::uint32_t first = progress_.ended ? epoch_ + 1 : epoch_;
    auto engine = start_engine(first);
    disposal_ = disposal_of(engine);
    engine_ = std::move(engine);
    reads_ = first;
    begun_.store(engine_.get(), std::memory_order_release);
  }
  return *engine_;
}

std::shared_ptr<Engine> EngineRun::start_engine(std::uint32_t first) {
  runtime::check_nesting();
  // Inside a body of another run the workers may all be waiting for this one: it runs on the caller's thread instead.
  const bool inside_another_run = exec::BodyScope::inside_any() && !options_.serial;
  exec::EngineSettings settings = settings_for(first);
  if (options_.serial || inside_another_run) return start_serial(std::move(settings), inside_another_run);
  return start_on_threads(std::move(settings));
}

exec::EngineSettings EngineRun::settings_for(std::uint32_t first) const {
  exec::EngineSettings settings;
  settings.first_epoch = first;
  settings.epochs = epochs_from(first);
  settings.seed = options_.seed;
  settings.pass = *options_.pass;
  settings.nested = settings.made_as = nested_;
  settings.resume = {replay_.position(), replay_.save_point()};
  settings.save_spacing = save_spacing_;
  settings.memory_bytes = static_cast<std::int64_t>(std::min<std::size_t>(options_.memory_bytes, kNoLimit));
  if (trace_file_) settings.trace = std::make_shared<exec::Trace>();
  return settings;
}

std::shared_ptr<Engine> EngineRun::start_serial(exec::EngineSettings settings, bool inside_another_run) {
  if (options_.memory_bytes == 0) settings.memory_bytes = kNoLimit;
  tuning_file_ = nullptr;
  auto engine = Engine::make(plan_, settings, std::make_unique<exec::QueueLauncher>());
  if (nested_) watch_from_outside(engine);
  return observed(std::move(engine), {.serial = true, .inside_another_run = inside_another_run});
}

std::shared_ptr<Engine> EngineRun::start_on_threads(exec::EngineSettings settings) {
  settings.nested = nullptr;  // its calls are on threads of their own: none lies in the call that made the run
  runtime::Runtime& runtime = runtime::Runtime::get();
  if (options_.memory_bytes == 0) settings.memory_bytes = runtime.default_memory();
  settings.permits = runtime.permits_for(options_.threads);
  settings.permits_are_fixed = options_.threads > 0;
  settings.gate = &runtime.gate();
  settings.has_priority = true;
  settings.niceness_is_reversible = exec::niceness_is_reversible();
  settings.cpu_budget = runtime.cpus_for(options_.threads);
  settings.open_io = options_.open_io;
  auto policy = options_.tune ? make_policy_() : nullptr;
  auto engine =
      observed(Engine::make(plan_, settings, runtime.make_launcher(settings.permits)), {.tuned = policy != nullptr});
  if (policy == nullptr) tuning_file_ = nullptr;
  if (tuning_file_) {
    auto knobs = engine->knobs();
    policy->begin_at(tuning_file_->read(settings.permits), knobs, settings.open_io);
  }
  if (nested_) watch_from_outside(engine);
  runtime.look_after(engine, options_.threads, std::move(policy), observer_);
  return engine;
}

// Where it is read in a call of another run, on whose thread its functions run: somebody else has to see when nobody
// wants that call any more.
void EngineRun::watch_from_outside(const std::shared_ptr<Engine>& engine) {
  nested_->set_engine(engine);
  if (!is_watched_) runtime::Runtime::get().look_after(nested_);
  is_watched_ = true;
}

std::shared_ptr<Engine> EngineRun::observed(std::shared_ptr<Engine> engine, runtime::Execution execution) {
  execution.rewrites = plan_->changes;
  observer_ = std::make_shared<runtime::Observer>(engine->knobs(), std::move(execution));
  return engine;
}

// What takes the engine down. Made with it: when that is to be done there may be no memory.
runtime::Runtime::Disposals EngineRun::disposal_of(const std::shared_ptr<Engine>& engine) const {
  runtime::Runtime::Disposals disposal;
  disposal.emplace_back([engine, observer = observer_, trace = trace_file_, tuning = tuning_file_] {
    engine->shut_down();
    const std::int64_t started_ns = engine->state().started_ns;
    write_if_possible("trace", [&] {
      if (trace) trace->write(*engine->settings().trace, engine->plan(), started_ns, observer->decisions());
    });
    write_if_possible("tuning", [&] {
      if (tuning && now_ns() - started_ns >= kWorthRemembering) tuning->write(engine->knobs());
    });
  });
  return disposal;
}

// Waits for the calls in flight, which may ask for the engine until they end, and for whoever still holds it: the
// pipeline's functions and data are not to outlive the run. On the thread of one of its calls, somebody else has to do
// it.
void EngineRun::drop_engine() {
  if (!engine_) {
    write_if_possible("trace", [&] {
      exec::Trace nothing;
      if (trace_file_) trace_file_->write(nothing, *plan_, 0, {});
    });
    return;
  }
  if (engine_->inside_own_body()) {
    engine_->request_stop();
    return runtime::Runtime::get().dispose(std::move(disposal_));
  }
  disposal_.front()();
  disposal_.clear();  // it holds the engine
  wait_for_departure(std::move(engine_));
}

// Never taken down here, on purpose: there would be calls to wait for whose threads do not exist in this process, and
// locks that they hold. The memory is the child's own copy.
void EngineRun::leave_engine_to_parent() {
  std::make_unique<std::pair<std::shared_ptr<Engine>, runtime::Runtime::Disposals>>(std::move(engine_),
                                                                                    std::move(disposal_))
      .release();
}

// A run that somebody keeps has been cut in a call that nobody wanted, and is read in another one. Its engine, if it
// has begun, is of no more use: it may have been given up. A trace tells of the next one. If nothing of the epoch had
// been given, it goes on behind its checkpoint again.
void EngineRun::begin_anew(std::uint32_t epoch) {
  std::shared_ptr<Engine> engine = engine_or_null();
  if (engine) engine->shut_down();  // what it throws leaves all as it was
  {
    MutexLock lock(mutex_);
    engine = std::exchange(engine_, nullptr);  // maybe one that another thread has begun meanwhile
    begun_.store(nullptr, std::memory_order_release);
    disposal_.clear();
    at_end_.reset();
    reads_.reset();
    nested_->begin_anew();
    if (has_given_nothing_of(epoch) && options_.resume_from) {
      stand_at(*options_.resume_from);
    } else {
      move_to(epoch);
    }
  }
  if (!engine) return;
  engine->shut_down();
  wait_for_departure(std::move(engine));
}

}  // namespace penstock::detail
