// QueueLauncher: tokens wait in a queue until somebody pumps them, one at a time. Its deadlines are moments of the
// system's clock.
//
// The serial executor pumps the most downstream one first, on the consumer's thread, until its element is there. Tests
// pump in an order drawn from a seed, so that any interleaving of token starts can be had, and had again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lib/base/mutex.h"
#include "lib/exec/launcher.h"

namespace penstock::exec {

class QueueLauncher final : public Launcher {
 public:
  // Chooses the token that runs next. Gets the stage's number of each waiting token, in order of arrival, and returns
  // the place of one of them.
  using Choice = std::function<std::size_t(const std::vector<std::size_t>& stages)>;

  // No choice: the most downstream, and no read-ahead. With a choice: groups and read-ahead as in production.
  explicit QueueLauncher(Choice choice = nullptr) : choice_(std::move(choice)) {}

  bool run_one() EXCLUDES(mutex_);  // runs a waiting token; false: there is none

  void connect(const std::vector<Stage*>& stages, const Edges& edges, Outlet& outlet) override;
  void launch(Stage& stage, bool on_pool) EXCLUDES(mutex_) override;
  void send(const Edge& edge, PacketRef packet) EXCLUDES(mutex_) override;
  void give_credits(const Edge& edge, std::int64_t count) override;
  void run_body(CallRef body) override { body(); }
  bool one_at_a_time() const override { return choice_ == nullptr; }
  bool wait_for(std::chrono::nanoseconds time) override;  // pumps them, instead of waiting
  bool is_pumped() const override { return true; }
  bool pump(std::int64_t deadline) override;
  void stop_waiting() EXCLUDES(mutex_) override;

 private:
  std::size_t choose() const REQUIRES(mutex_);
  bool has_something() const REQUIRES(mutex_);
  bool wait_for_token(std::int64_t deadline) EXCLUDES(mutex_);

  struct WaitingToken {
    Stage* stage;
    bool on_pool;
  };
  const Choice choice_;
  std::vector<Stage*> stages_;
  Outlet* outlet_ = nullptr;

  Mutex mutex_;  // never held while one runs
  CondVar arrived_;
  std::vector<WaitingToken> tokens_ GUARDED_BY(mutex_);
  bool is_woken_ GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::exec
