#include "tests/exam/host.h"

#include <algorithm>
#include <utility>

namespace penstock::exam {
namespace {

constexpr Time kStart = kSecond;      // of the clock that engines read
constexpr double kMostOwed = 50'000;  // ns: a call that others are to see at work is seen in time
constexpr double kNotify = 2'000;     // ns: what it takes to wake a thread

std::int64_t rounded(double ns) { return static_cast<std::int64_t>(ns + 0.5); }

}  // namespace

// A wait that lasts no longer than until some moment.
struct Host::Timer final : Client {
  explicit Timer(Host& owner) : host(owner) {}
  void wake() override {
    host.spare_timers_.push_back(this);
    if (fibre->sleeps && fibre->waits == wait) fibre->wake();
  }
  Host& host;
  Fibre* fibre = nullptr;
  std::uint64_t wait = 0;
};

// The host's own schedules.
struct Host::Change final : Client {
  explicit Change(Host& owner) : host(owner) {}
  void wake() override { host.follow_the_world(); }
  Host& host;
};

namespace {

class SimulatedSignal final : public Signal {
 public:
  explicit SimulatedSignal(Host& host) : host_(host) {}
  void notify_all() noexcept override {
    if (waiting_.empty()) return;
    host_.charge(kNotify);
    for (Fibre* fibre : std::exchange(waiting_, {})) {
      if (fibre->sleeps) fibre->wake();
    }
  }
  void wait_until(Mutex& mutex, std::int64_t moment) REQUIRES(mutex) override {
    Fibre& self = *host_.fibres().current();
    mutex.unlock();
    if (self.debt_ns >= 1) {
      host_.settle();  // others go on meanwhile: what is waited for may be there
    } else {
      waiting_.push_back(&self);
      if (moment != penstock::kNever) host_.wake_at(moment - kStart, self);
      host_.wait();
      std::erase(waiting_, &self);
      host_.charge(kWakeUp);
    }
    mutex.lock();
  }

 private:
  Host& host_;
  std::vector<Fibre*> waiting_;
};

class FibreMeter final : public ThreadMeter {
 public:
  FibreMeter(Host& host, const Fibre& fibre) : host_(host), fibre_(fibre) {}
  std::optional<Reading> read() const noexcept override {
    const ThreadUse use = host_.use_of(fibre_);
    return Reading{use.cpu_ns, use.delay_ns};
  }
  std::optional<std::int64_t> cpu_ns() const noexcept override { return host_.use_of(fibre_).cpu_ns; }

 private:
  const Host& host_;
  const Fibre& fibre_;
};

}  // namespace

Host::Host(const HostSpec& spec) : spec_(spec), processor_(spec.cores), change_(std::make_unique<Change>(*this)) {
  for (const auto* schedule : {&spec_.quota, &spec_.foreign}) {
    for (const auto& step : schedule->steps) events_.add(step.from, *change_);
  }
  follow_the_world();
}

Host::~Host() = default;

void Host::follow_the_world() {
  processor_.set_quota(spec_.quota.at(now_, spec_.cores));
  processor_.set_foreign(static_cast<int>(spec_.foreign.at(now_, 0)));
}

double Host::cpus() const { return std::min(spec_.quota.at(now_, spec_.cores), spec_.cores); }

Fibre& Host::spawn(Processor::Threads kind, std::function<void()> work) {
  Fibre& fibre = fibres_.spawn([this, work = std::move(work)] {
    work();
    settle();
  });
  fibre.kind = kind;
  return fibre;
}

void Host::run_until(Time end) {
  for (;;) {
    while (fibres_.run_one()) {
    }
    const Time computed = processor_.next(now_), next = std::min(computed, events_.next());
    if (next > end) break;
    processor_.advance(next - now_);
    now_ = next;
    if ((computed > next || !processor_.wake_finished()) && events_.next() == now_) events_.take().wake();
  }
  processor_.advance(end - now_);
  now_ = end;
}

void Host::charge(double ns) {
  if (Fibre* self = fibres_.current()) self->debt_ns += ns;
}

void Host::compute(double ns) {
  charge(ns);
  if (fibres_.current()->debt_ns > kMostOwed) settle();
}

void Host::settle() {
  Fibre& self = *fibres_.current();
  if (self.debt_ns < 1) return;
  const auto kind = static_cast<Processor::Threads>(self.kind);
  const Time begun = now_;
  self.clock_ns = processor_.clock(kind);
  processor_.add(kind, std::exchange(self.debt_ns, 0), self);
  fibres_.wait();
  const double used = processor_.clock(kind) - std::exchange(self.clock_ns, -1);
  self.use.cpu_ns += rounded(used);
  self.use.delay_ns += std::max<std::int64_t>(now_ - begun - rounded(used), 0);
}

void Host::wait() {
  Fibre& self = *fibres_.current();
  ++self.use.waits;
  self.sleeps = true;
  fibres_.wait();
}

void Host::sleep(double ns) {
  settle();
  sleep_until(now_ + rounded(ns));
}

void Host::sleep_until(Time moment) {
  settle();
  if (moment <= now_) return;
  events_.add(moment, *fibres_.current());
  wait();
}

void Host::use(Device& device, double ns, double calls) {
  settle();
  device.request(ns, calls, *fibres_.current());
  wait();
  device.leave();
}

Device& Host::add_device(const DeviceSpec& spec) { return devices_.emplace_back(spec, events_, now_); }

void Host::wake_at(Time moment, Fibre& fibre) {
  if (spare_timers_.empty()) {
    timers_.push_back(std::make_unique<Timer>(*this));
    spare_timers_.push_back(timers_.back().get());
  }
  Timer& timer = *spare_timers_.back();
  spare_timers_.pop_back();
  timer.fibre = &fibre;
  timer.wait = fibre.waits + 1;  // the one that is about to begin
  events_.add(std::max(moment, now_), timer);
}

ThreadUse Host::use_of(const Fibre& fibre) const {
  ThreadUse use = fibre.use;
  if (&fibre == fibres_.current()) use.cpu_ns += rounded(fibre.debt_ns);
  if (fibre.clock_ns >= 0)
    use.cpu_ns += rounded(processor_.clock(static_cast<Processor::Threads>(fibre.kind)) - fibre.clock_ns);
  return use;
}

ThreadUse Host::use_of_current() const {
  return fibres_.current() == nullptr ? ThreadUse() : use_of(*fibres_.current());
}

std::int64_t Host::now() const noexcept {
  const Fibre* self = fibres_.current();
  return kStart + now_ + (self == nullptr ? 0 : rounded(self->debt_ns));
}

std::unique_ptr<Signal> Host::make_signal() const { return std::make_unique<SimulatedSignal>(self_); }

std::int64_t Host::thread_cpu_ns() const noexcept { return use_of_current().cpu_ns; }
std::int64_t Host::thread_delay_ns() const noexcept { return use_of_current().delay_ns; }
std::int64_t Host::thread_waits() const noexcept { return use_of_current().waits; }
int Host::thread_number() const noexcept { return fibres_.current() == nullptr ? 0 : fibres_.current()->number(); }

std::unique_ptr<ThreadMeter> Host::make_thread_meter() const {
  return std::make_unique<FibreMeter>(self_, *fibres_.current());
}

}  // namespace penstock::exam
