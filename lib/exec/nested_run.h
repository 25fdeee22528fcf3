// NestedRun: a run that was made in a call of another run. When nobody wants the results of that call any more, and the
// call waits for the nested run, the nested run is given up: its functions see their stop token set, and its reader
// gets an error instead of the next element. The thread of the call cannot do that, since it is inside the nested run.
// So another thread looks now and then (runtime::Runtime).
//
//   made in a call      it belongs to that call; when that ends, to the call around it
//   kept by the run     the outermost call is over, and others of the same run read it (a generator's run for each
//                       pass): it ends with that run, or with the source's pass that it was made in or that has begun
//                       its epoch, as long as nobody but that source has read it, and in no other pass
//   nobody's            it is read elsewhere: nobody gives it up
//
// Thread safety: any thread; one at a time reads the run.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "lib/base/mutex.h"

namespace penstock::exec {

class BodyScope;
class Engine;

class NestedRun : public std::enable_shared_from_this<NestedRun> {
 public:
  static constexpr const char* kUnwanted = "nobody wants the result of the call in which it is read. Return from there";

  explicit NestedRun(const BodyScope& made_in) noexcept : call_(&made_in) {}

  // Lives as long as one request for the run's next element, on the thread that asks.
  class Request {
   public:
    explicit Request(NestedRun* run) noexcept : run_(run) {
      if (run_ != nullptr) run_->begin_request();
    }
    ~Request() {
      if (run_ != nullptr) run_->is_asked_.store(false, std::memory_order_release);
    }
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

   private:
    NestedRun* const run_;
  };

  void set_engine(std::weak_ptr<Engine> engine) EXCLUDES(mutex_);  // when it begins
  // At the end of the call that it belongs to: what it belongs to from now on.
  void belong_to(const BodyScope& call) noexcept EXCLUDES(mutex_);
  // `nested`: of that run, if it was made in a call of another one.
  void belong_to(std::stop_token run, const NestedRun* nested, std::stop_token pass, std::uint64_t sequence) noexcept
      EXCLUDES(mutex_);
  // During a request: what it gives from now on is for the call that asks, and for no pass but that one's.
  void belong_to_reader() noexcept EXCLUDES(mutex_);
  void leave() noexcept EXCLUDES(mutex_);  // it is no more, or somebody else's
  bool is_over() const noexcept { return is_over_.load(std::memory_order_acquire); }

  // The call that the run belongs to: the run's elements are wanted as long as that call's results are. Null: none.
  // For a thread that is inside that call, or while that call is looked at.
  const BodyScope* call() const noexcept { return call_.load(std::memory_order_acquire); }
  // One of the run's calls was told that it is unwanted, and may have left results out: what comes now is not whole.
  void note_cut() const noexcept { is_cut_.store(true, std::memory_order_relaxed); }
  bool is_cut() const noexcept { return is_cut_.load(std::memory_order_relaxed); }
  void begin_anew() noexcept EXCLUDES(mutex_);  // when nothing is left of the engine that was cut
  // For the thread that reads the run, during a request.
  bool is_unwanted() const EXCLUDES(mutex_);

  // Any thread. The engine to give up, if what the run belongs to is not wanted any more and waits for it; only once,
  // unless it is put back.
  std::shared_ptr<Engine> take_unwanted() EXCLUDES(mutex_);
  void put_back() noexcept EXCLUDES(mutex_);
  // Gives that engine up. For a thread that may be held up, since users' stop callbacks run.
  void give_up(Engine& engine) noexcept EXCLUDES(mutex_);

 private:
  void begin_request() noexcept EXCLUDES(mutex_);
  bool is_asked_by_owner() noexcept EXCLUDES(mutex_);
  bool is_owner_unwanted() const REQUIRES(mutex_);

  mutable Mutex mutex_;  // held while the call is looked at, which does not end meanwhile
  // these two: changed with the lock held; read without it by who reads the run, for each element
  std::atomic<const BodyScope*> call_;  // null: of the run, or nobody's
  std::atomic<bool> is_over_{false};    // nobody's
  // that it belongs to; none while it belongs to a call. A run that was made in a call itself has another token when it
  // has begun anew, and is known by its NestedRun
  std::stop_token run_ GUARDED_BY(mutex_);
  std::weak_ptr<const NestedRun> keeper_ GUARDED_BY(mutex_);
  std::stop_token pass_ GUARDED_BY(mutex_);  // and of the pass that it was made in; none: others have read it, too
  std::uint64_t sequence_ GUARDED_BY(mutex_) = 0;
  std::weak_ptr<Engine> engine_ GUARDED_BY(mutex_);
  bool is_taken_ GUARDED_BY(mutex_) = false;
  mutable std::atomic<bool> is_cut_{false};
  std::atomic<bool> is_asked_{false};  // a request of its owner's is under way
};

}  // namespace penstock::exec
