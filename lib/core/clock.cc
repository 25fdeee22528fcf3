#include "lib/core/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "lib/base/text.h"

namespace penstock {

// /proc/self/statm: "size resident shared text lib data dt", in pages.
std::size_t rss_bytes() noexcept {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 256> buffer;
  const ssize_t count = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  std::string_view text(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  text.remove_prefix(text.find(' ') == text.npos ? text.size() : text.find(' ') + 1);
  const auto pages = parse_unsigned(text.substr(0, text.find(' ')));
  return pages ? *pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace penstock
