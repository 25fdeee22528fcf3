#include "tests/exam/launcher.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/exec/outlet.h"
#include "lib/exec/stage.h"

namespace penstock::exam {
namespace {

// ns of CPU; measured by penstock-engine, see README.md.
constexpr double kSubmit = 1'000, kThreadStart = 30'000;
constexpr double kCall = 1'500;  // of the engine, for a call of a body

}  // namespace

void Workers::submit(std::function<void()> work) {
  queue_.push_back(std::move(work));
  host_.charge(kSubmit);
  if (std::exchange(about_to_end_, nullptr) == nullptr) wake_or_begin(most_);
}

void Workers::submit_beyond(std::function<void()> work) {
  queue_.push_front(std::move(work));
  host_.charge(kSubmit);
  wake_or_begin(std::numeric_limits<std::int64_t>::max());
}

void Workers::wake_or_begin(std::int64_t most) {
  if (!idle_.empty()) {
    Fibre* fibre = idle_.back();
    idle_.pop_back();
    fibre->debt_ns += kWakeUp;
    return fibre->wake();
  }
  if (std::ssize(threads_) >= most) return;
  threads_.push_back(&host_.spawn(Processor::workers, [this] { work_for_ever(); }));
  threads_.back()->debt_ns += kThreadStart;
}

void Workers::is_about_to_end() noexcept {
  Fibre* self = host_.fibres().current();
  if (std::ranges::find(threads_, self) != threads_.end()) about_to_end_ = self;
}

void Workers::work_for_ever() {
  for (;;) {
    host_.settle();
    if (about_to_end_ == host_.fibres().current()) about_to_end_ = nullptr;
    if (queue_.empty()) {
      idle_.push_back(host_.fibres().current());
      host_.wait();
      continue;
    }
    const auto work = std::move(queue_.front());
    queue_.pop_front();
    work();
  }
}

void SimulatedLauncher::connect(const std::vector<exec::Stage*>& stages, const exec::Edges&, exec::Outlet& outlet) {
  stages_ = stages;
  outlet_ = &outlet;
}

void SimulatedLauncher::launch(exec::Stage& stage, bool on_pool) {
  ++out_;
  (on_pool ? pool_ : compute_).submit([this, &stage, on_pool] {
    stage.run_token(on_pool);
    host_.settle();
    --out_;
  });
}

void SimulatedLauncher::send(const exec::Edge& edge, exec::PacketRef packet) {
  if (edge.to != exec::kOutlet) return stages_[edge.to]->receive(edge.port, std::move(packet->slots));
  outlet_->receive(*packet);
}

void SimulatedLauncher::give_credits(const exec::Edge& edge, std::int64_t count) {
  stages_[edge.from]->add_credits(count);
}

void SimulatedLauncher::run_body(exec::CallRef body) {
  host_.compute(kCall);
  body();
  host_.settle();
}

bool SimulatedLauncher::try_on_pool(std::function<void()> work) {
  ++out_;
  pool_.submit_beyond([this, work = std::move(work)] {
    work();
    host_.settle();
    --out_;
  });
  return true;
}

bool SimulatedLauncher::wait_for(std::chrono::nanoseconds time) {
  if (out_ == 0) return true;
  if (host_.fibres().current() == nullptr) {  // whoever owns the host
    host_.run_until(host_.time() + time.count());
  } else {
    host_.sleep(static_cast<double>(time.count()));
  }
  return out_ == 0;
}

}  // namespace penstock::exam
