#include "lib/core/scheduler_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "lib/base/text.h"

namespace penstock {
namespace {

bool is_among_the_first_quarter(int file) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) != 0 || static_cast<rlim_t>(file) < limit.rlim_cur / 4;
}

using Buffer = std::array<char, 256>;

std::string_view read_into(Buffer& buffer, int file) {
  const ssize_t count = ::pread(file, buffer.data(), buffer.size(), 0);
  return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace

int this_thread_number() noexcept {
  static thread_local const auto number = static_cast<int>(::syscall(SYS_gettid));
  return number;
}

// "4711 (name) S 1 ...", where the name may hold anything. S sleeps, D waits for a disk.
bool thread_sleeps(int number) noexcept {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", number);
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  Buffer buffer;
  const std::string_view text = read_into(buffer, file);
  ::close(file);
  const std::size_t end = text.rfind(") ");
  return end + 2 < text.size() && end != text.npos && (text[end + 2] == 'S' || text[end + 2] == 'D');
}

SchedulerFile::SchedulerFile() noexcept : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
  if (file_ >= 0 && !is_among_the_first_quarter(file_)) ::close(std::exchange(file_, -1));
}

SchedulerFile::~SchedulerFile() {
  if (file_ >= 0) ::close(file_);
}

// "266746052 497061425 355": ns on a CPU (as of the last tick), ns of delay, times it was put on a CPU.
std::optional<std::int64_t> SchedulerFile::delay_ns() const noexcept {
  if (file_ < 0) return std::nullopt;
  Buffer buffer;
  std::string_view text = read_into(buffer, file_);
  const std::size_t first = text.find(' ');
  if (first == text.npos) return std::nullopt;
  text.remove_prefix(first + 1);
  return parse_integer(text.substr(0, text.find(' ')));
}

}  // namespace penstock
