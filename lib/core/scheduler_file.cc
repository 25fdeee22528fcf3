#include "lib/core/scheduler_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "lib/core/text.h"

namespace penstock {
namespace {

bool is_among_the_first_quarter(int file) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) != 0 || static_cast<rlim_t>(file) < limit.rlim_cur / 4;
}

}  // namespace

SchedulerFile::SchedulerFile() noexcept : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
  if (file_ >= 0 && !is_among_the_first_quarter(file_)) ::close(std::exchange(file_, -1));
}

SchedulerFile::~SchedulerFile() {
  if (file_ >= 0) ::close(file_);
}

// "266746052 497061425 355": ns on a CPU (as of the last tick), ns of delay, times it was put on a CPU.
std::optional<std::int64_t> SchedulerFile::delay_ns() const noexcept {
  if (file_ < 0) return std::nullopt;
  std::array<char, 128> buffer;
  const ssize_t count = ::pread(file_, buffer.data(), buffer.size(), 0);
  std::string_view text(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::size_t first = text.find(' ');
  if (first == text.npos) return std::nullopt;
  text.remove_prefix(first + 1);
  return parse_integer(text.substr(0, text.find(' ')));
}

}  // namespace penstock
