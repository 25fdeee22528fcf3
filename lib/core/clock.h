// What time it is, and what this process has used. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>

namespace penstock {
namespace detail {
// None: there is no such clock, or no longer.
inline std::optional<std::int64_t> read_clock_if_any(clockid_t clock) noexcept {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}
inline std::int64_t read_clock(clockid_t clock) noexcept { return read_clock_if_any(clock).value_or(0); }
}  // namespace detail

// Nanoseconds since some fixed moment; never goes back. The epoch of std::chrono::steady_clock. ~20 ns.
inline std::int64_t now_ns() noexcept { return detail::read_clock(CLOCK_MONOTONIC); }

// CPU time of the calling thread, user and system, in nanoseconds. A system call: 0.1 to 0.5 us.
inline std::int64_t thread_cpu_ns() noexcept { return detail::read_clock(CLOCK_THREAD_CPUTIME_ID); }

// CPU time of all threads of the process, the ended ones included, in nanoseconds. A system call.
inline std::int64_t process_cpu_ns() noexcept { return detail::read_clock(CLOCK_PROCESS_CPUTIME_ID); }

// Resident memory of the process in bytes, as the kernel's last count has it (off by some pages per
// thread); 0 if /proc cannot be read. ~5 us.
std::size_t rss_bytes() noexcept;

}  // namespace penstock
