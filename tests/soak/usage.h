// What this process takes of the system, sampled and told by windows of time.
#pragma once

#include <cstdint>
#include <vector>

namespace soak {

struct Usage {
  std::int64_t resident = 0;  // bytes
  std::int64_t kept = 0;  // of these, what the payload pool kept for reuse: that follows the load of the last seconds
  std::int64_t settled = 0;  // the others, without what glibc can give back
  std::int64_t live = 0;     // allocated by malloc and not freed, whether it was ever written to or not
  std::int64_t threads = 0;
  std::int64_t descriptors = 0;
};

// What the payload pool may keep for reuse, by its header's word, after the largest load so far.
std::int64_t most_kept();

// By the system's word, /proc/self, and glibc's. Has the payload pool and glibc give back what nobody uses.
Usage usage_now();

// The samples of some stretch of time.
class Window {
 public:
  void add(const Usage& usage) { samples_.push_back(usage); }
  void add(const Window& other);
  bool empty() const { return samples_.empty(); }
  Usage median() const;  // of each number by itself
  Usage largest() const;

 private:
  // The sample below which lies this share of the others.
  Usage quantile(double share) const;

  std::vector<Usage> samples_;
};

}  // namespace soak
