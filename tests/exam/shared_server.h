// SharedServer: jobs that are all served at one rate, whatever it is at the moment. What each has received so far is
// one clock for all of them, so that a change of the rate costs nothing, and a job no more than its place in a heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/exam/events.h"

namespace penstock::exam {

class SharedServer {
 public:
  void add(double work, Client& client) {
    heap_.push_back({served_ + work, ++added_, &client});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void serve(double work_each) noexcept { served_ += work_each; }
  std::size_t jobs() const noexcept { return heap_.size(); }
  double least_left() const noexcept { return std::max(heap_.front().until - served_, 0.0); }

  // A job that has all its work, taken out; null: there is none. `slack`: of rounding.
  Client* take_finished(double slack) {
    if (heap_.empty() || heap_.front().until > served_ + slack) return nullptr;
    Client* client = heap_.front().client;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    return client;
  }

 private:
  struct Job {
    double until;
    std::uint64_t number;
    Client* client;
  };
  static bool later(const Job& a, const Job& b) { return a.until != b.until ? a.until > b.until : a.number > b.number; }

  std::vector<Job> heap_;
  double served_ = 0;
  std::uint64_t added_ = 0;
};

}  // namespace penstock::exam
