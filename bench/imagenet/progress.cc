#include "bench/imagenet/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace penstock::bench {
namespace {

constexpr auto bar_interval = std::chrono::milliseconds(200);
constexpr auto line_interval = std::chrono::seconds(10);
constexpr std::size_t bar_width = 24;

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * bar_width);
  return std::string(full, '#') + std::string(bar_width - full, '.');
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::begin(const std::string& title, std::int64_t images) {
  title_ = title;
  total_ = images;
  begin_ = Clock::now();
  next_ = begin_ + (terminal_ ? Clock::duration(bar_interval) : Clock::duration(line_interval));
}

void Progress::update(std::int64_t images, double wait_share) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? Clock::duration(bar_interval) : Clock::duration(line_interval));
  draw(images, wait_share, std::chrono::duration<double>(now - begin_).count());
}

void Progress::draw(std::int64_t images, double wait_share, double seconds) {
  const auto done = static_cast<double>(images);
  const double rate = done / seconds;
  const double left = rate > 0 ? std::max(0.0, static_cast<double>(total_) - done) / rate : 0;
  const double share = total_ > 0 ? done / static_cast<double>(total_) : 0;
  if (terminal_)
    std::fprintf(stderr, "\r%s [%s] %3.0f %%  %.0f images/s, waiting %.0f %%, %.0f s left\033[K",
                 title_.c_str(), bar(share).c_str(), 100 * std::min(share, 1.0), rate,
                 100 * wait_share, left);
  else
    std::fprintf(stderr, "%s: %lld of %lld images, %.0f images/s, waiting %.0f %%, %.0f s left\n",
                 title_.c_str(), static_cast<long long>(images), static_cast<long long>(total_),
                 rate, 100 * wait_share, left);
  std::fflush(stderr);
}

void Progress::end() {
  if (!quiet_ && terminal_) std::fputs("\r\033[K", stderr);
}

}  // namespace penstock::bench
