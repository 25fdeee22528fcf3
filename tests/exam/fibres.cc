#include "tests/exam/fibres.h"

#include <ucontext.h>

#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define PENSTOCK_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PENSTOCK_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef PENSTOCK_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace penstock::exam {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;

// Where a fibre that begins finds itself: makecontext() hands over numbers only.
thread_local Fibre* beginning = nullptr;

// AddressSanitizer is to know on which stack it is. What it has to be told on the way back is kept on the stack that is
// left.
#ifdef PENSTOCK_ADDRESS_SANITIZER
void switch_stacks(ucontext_t& from, const ucontext_t& to) {
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, to.uc_stack.ss_sp, to.uc_stack.ss_size);
  ::swapcontext(&from, &to);
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}
// On a new stack. Where it came from: the scheduler's.
void arrive(ucontext_t& outside) {
  const void* bottom = nullptr;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &outside.uc_stack.ss_size);
  outside.uc_stack.ss_sp =
      const_cast<void*>(bottom);  // NOLINT(cppcoreguidelines-pro-type-const-cast): of a C interface
}
#else
void switch_stacks(ucontext_t& from, const ucontext_t& to) { ::swapcontext(&from, &to); }
void arrive(ucontext_t&) {}
#endif

}  // namespace

struct Fibre::Context {
  static void begin() { beginning->work_for_ever(); }

  ucontext_t inside{}, outside{};
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
};

Fibre::Fibre(Fibres& fibres, int number) : fibres_(fibres), number_(number), context_(std::make_unique<Context>()) {
  ::getcontext(&context_->inside);
  context_->inside.uc_stack.ss_sp = context_->stack.get();
  context_->inside.uc_stack.ss_size = kStackBytes;
  ::makecontext(&context_->inside, &Context::begin, 0);
}

Fibre::~Fibre() = default;

void Fibre::wake() {
  sleeps = false;
  fibres_.ready_.push_back(this);
}

void Fibre::run() {
  beginning = this;
  fibres_.current_ = this;
  const exec::BodyScope* outer = exec::BodyScope::exchange(innermost_);
  switch_stacks(context_->outside, context_->inside);
  innermost_ = exec::BodyScope::exchange(outer);
  fibres_.current_ = nullptr;
}

void Fibre::yield() { switch_stacks(context_->inside, context_->outside); }

void Fibre::work_for_ever() {
  arrive(context_->outside);
  for (;;) {
    work_();
    work_ = nullptr;
    fibres_.spare_.push_back(this);
    yield();
  }
}

Fibre& Fibres::spawn(std::function<void()> work) {
  if (spare_.empty()) {
    all_.push_back(std::make_unique<Fibre>(*this, static_cast<int>(all_.size()) + 1));
    spare_.push_back(all_.back().get());
  }
  Fibre& fibre = *spare_.back();
  spare_.pop_back();
  fibre.work_ = std::move(work);
  fibre.wake();
  return fibre;
}

bool Fibres::run_one() {
  if (ready_.empty()) return false;
  Fibre* fibre = ready_.front();
  ready_.pop_front();
  fibre->run();
  return true;
}

void Fibres::wait() {
  ++current_->waits;
  current_->yield();
}

}  // namespace penstock::exam
