// SimulatedLauncher: an engine's tokens on the threads of a simulated host, and what the engine itself costs there.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <vector>

#include "lib/exec/launcher.h"
#include "tests/exam/host.h"

namespace penstock::exam {

// Threads of the process that wait for work: those who compute, or those of the pool. One that is idle is woken, the
// last one first; where none is, one more begins, and that takes longer.
class Workers {
 public:
  Workers(Host& host, std::int64_t most) : host_(host), most_(most) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void submit(std::function<void()> work);
  // The same, on a thread more than there may be if need be.
  void submit_beyond(std::function<void()> work);
  // The calling one, if it is one of them, has all but ended its work: what comes now is for it.
  void is_about_to_end() noexcept;

 private:
  void wake_or_begin(std::int64_t most);
  void work_for_ever();

  Host& host_;
  const std::int64_t most_;
  std::vector<Fibre*> threads_;
  std::deque<std::function<void()>> queue_;
  std::vector<Fibre*> idle_;
  Fibre* about_to_end_ = nullptr;
};

class SimulatedLauncher final : public exec::Launcher {
 public:
  SimulatedLauncher(Host& host, Workers& compute, Workers& pool) : host_(host), compute_(compute), pool_(pool) {}

  void connect(const std::vector<exec::Stage*>& stages, const exec::Edges& edges, exec::Outlet& outlet) override;
  void launch(exec::Stage& stage, bool on_pool) override;
  void send(const exec::Edge& edge, exec::PacketRef packet) override;
  void give_credits(const exec::Edge& edge, std::int64_t count) override;
  void run_body(exec::CallRef body) override;
  bool one_at_a_time() const override { return false; }
  void token_ends() override { compute_.is_about_to_end(); }
  void token_ends_without_permit() noexcept override { compute_.is_about_to_end(); }
  bool try_on_pool(std::function<void()> work) override;
  bool wait_for(std::chrono::nanoseconds time) override;

 private:
  Host& host_;
  Workers& compute_;
  Workers& pool_;
  std::vector<exec::Stage*> stages_;
  exec::Outlet* outlet_ = nullptr;
  std::int64_t out_ = 0;  // tokens and other work
};

}  // namespace penstock::exam
