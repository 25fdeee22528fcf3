#include "bench/imagenet/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace penstock::bench {
namespace {

constexpr auto bar_interval = std::chrono::milliseconds(200);
constexpr auto line_interval = std::chrono::seconds(10);
constexpr std::size_t bar_width = 24;

std::string format_seconds(double seconds) { return std::to_string(std::llround(seconds)) + " s"; }

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(share * bar_width);
  return std::string(full, '#') + std::string(bar_width - full, '.');
}

}  // namespace

Progress::Progress(bool quiet) : Progress(quiet, ::isatty(STDERR_FILENO) == 1) {}

void Progress::begin(const std::string& title, std::int64_t images) {
  title_ = title;
  total_ = images;
  begin_ = now_();
  next_ = begin_ + (terminal_ ? Clock::duration(bar_interval) : Clock::duration(line_interval));
}

void Progress::update(std::int64_t images, double wait_share) {
  if (quiet_) return;
  const auto now = now_();
  if (now < next_) return;
  next_ = now + (terminal_ ? Clock::duration(bar_interval) : Clock::duration(line_interval));
  draw(images, wait_share, std::chrono::duration<double>(now - begin_).count());
}

void Progress::draw(std::int64_t images, double wait_share, double seconds) {
  const auto done = static_cast<double>(images);
  const double share = total_ > 0 ? std::min(1.0, done / static_cast<double>(total_)) : 0;
  const std::string left = share > 0 ? format_seconds(seconds * (1 - share) / share) : "?";
  if (terminal_)
    std::fprintf(stderr, "\r%s [%s] %3.0f %%  %.0f images/s, waiting %.0f %%, %s left\033[K", title_.c_str(),
                 bar(share).c_str(), 100 * share, done / seconds, 100 * wait_share, left.c_str());
  else
    std::fprintf(stderr, "%s: %lld of %lld images, %.0f images/s, waiting %.0f %%, %s left\n", title_.c_str(),
                 static_cast<long long>(images), static_cast<long long>(total_), done / seconds, 100 * wait_share,
                 left.c_str());
  std::fflush(stderr);
}

void Progress::end() {
  if (!quiet_ && terminal_) std::fputs("\r\033[K", stderr);
}

}  // namespace penstock::bench
