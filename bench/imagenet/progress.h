// How far a repetition is, on stderr: a bar with rate, waiting share and time left on a terminal, a
// line each 10 s elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace penstock::bench {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Progress(bool quiet);
  Progress(bool quiet, bool terminal, std::function<Clock::time_point()> now = Clock::now)
      : quiet_(quiet), terminal_(terminal), now_(std::move(now)) {}

  // A new repetition of `images` files, in all.
  void begin(const std::string& title, std::int64_t images);

  // Cheap enough for each batch: prints now and then only.
  void update(std::int64_t images, double wait_share);

  // Clears the bar.
  void end();

 private:
  void draw(std::int64_t images, double wait_share, double seconds);

  bool quiet_;
  bool terminal_;
  std::function<Clock::time_point()> now_;
  std::string title_;
  std::int64_t total_ = 0;
  Clock::time_point begin_, next_;
};

// One repetition: the bar is gone with the object, also where an exception ends it, so that what is
// printed next has a line of its own.
class ProgressBar {
 public:
  ProgressBar(Progress& progress, const std::string& title, std::int64_t images) : progress_(progress) {
    progress_.begin(title, images);
  }
  ~ProgressBar() { progress_.end(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  Progress& progress_;
};

}  // namespace penstock::bench
