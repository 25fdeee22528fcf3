// EventQueue: who is to be woken when, in virtual nanoseconds. And Ring, a queue that never allocates once it is large
// enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace penstock::exam {

using Time = std::int64_t;  // virtual nanoseconds
inline constexpr Time kNever = std::numeric_limits<Time>::max();
inline constexpr Time kMicrosecond = 1'000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;

// Who waits for a timer, a device or a CPU.
class Client {
 public:
  virtual void wake() = 0;

 protected:
  ~Client() = default;
};

class EventQueue {
 public:
  void add(Time time, Client& client) {
    heap_.push_back({time, ++added_, &client});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  Time next() const noexcept { return heap_.empty() ? kNever : heap_.front().time; }
  Client& take() {
    Client* client = heap_.front().client;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    return *client;
  }

 private:
  struct Event {
    Time time;
    std::uint64_t number;  // those of one time come in the order in which they were added
    Client* client;
  };
  static bool later(const Event& a, const Event& b) { return a.time != b.time ? a.time > b.time : a.number > b.number; }

  std::vector<Event> heap_;
  std::uint64_t added_ = 0;
};

template <class T> class Ring {
 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  T& front() noexcept { return slots_[first_]; }
  const T& front() const noexcept { return slots_[first_]; }
  void push_back(const T& value) {
    if (size_ == slots_.size()) grow();
    slots_[(first_ + size_) & (slots_.size() - 1)] = value;
    ++size_;
  }
  void pop_front() noexcept {
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = slots_[(first_ + i) & (slots_.size() - 1)];
    slots_.swap(larger);
    first_ = 0;
  }

  std::vector<T> slots_;  // 2^n of them
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace penstock::exam
