#include "lib/core/cpu_budget.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/base/text.h"
#include "lib/core/cpu_mask.h"

namespace penstock {
namespace {

using String = detail::PooledString;  // the limits are read every second, beside a loop that asks the heap for nothing

constexpr double no_quota = std::numeric_limits<double>::infinity();

class OpenFile {
 public:
  explicit OpenFile(const String& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const noexcept { return number_; }

 private:
  const int number_;  // -1: it could not be opened
};

// Empty if it cannot be read. Files of /proc and cgroups are small; a longer one is not what it
// should be.
String read_file(const String& path) {
  constexpr std::size_t limit = std::size_t{4} << 20;
  String text;
  const OpenFile file(path);
  std::array<char, 4096> part;
  while (text.size() < limit) {
    const ssize_t got = ::read(file.number(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// Cuts off and returns the text before the next separator.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) parts.push_back(next_part(text, separator));
  return parts;
}

bool lists(std::string_view comma_list, std::string_view name) {
  while (!comma_list.empty()) {
    if (next_part(comma_list, ',') == name) return true;
  }
  return false;
}

bool is_octal(std::string_view text) {
  return text.size() == 3 && text.find_first_not_of("01234567") == text.npos && text[0] < '4';
}

// mountinfo writes blanks, tabs, newlines and backslashes of a path as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 3);
    if (text[i] != '\\' || !is_octal(digits)) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
    i += 3;
  }
  return plain;
}

// The number alone on the first line of a file.
std::optional<std::int64_t> read_number(const String& path) {
  const String text = read_file(path);
  return parse_integer(std::string_view(text).substr(0, text.find('\n')));
}

double ratio(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return no_quota;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// cpu.max: "50000 100000", or "max 100000".
double read_quota_2(const String& folder) {
  const String text = read_file(folder + "/cpu.max");
  std::string_view rest(text);
  std::string_view line = next_part(rest, '\n');
  const auto quota = parse_integer(next_part(line, ' '));
  return ratio(quota, parse_integer(line));
}

double read_quota_1(const String& folder) {
  return ratio(read_number(folder + "/cpu.cfs_quota_us"), read_number(folder + "/cpu.cfs_period_us"));
}

// "max", or version 1's number near 2^63, mean no limit; so does anything else that is not a
// number.
std::uint64_t read_limit(const String& path) {
  const auto bytes = read_number(path);
  return bytes && *bytes >= 0 ? static_cast<std::uint64_t>(*bytes) : MemoryLimits::unlimited;
}

std::uint64_t read_available(const String& path) {
  const String text = read_file(path);
  for (std::string_view line : split(text, '\n')) {
    if (next_part(line, ':') != "MemAvailable") continue;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const auto kib = parse_unsigned(line.substr(0, line.find(' ')));
    if (kib && *kib < MemoryLimits::unlimited / 1024) return *kib * 1024;
  }
  return MemoryLimits::unlimited;
}

constexpr std::int64_t unknown_count = std::numeric_limits<int>::max();

// How many CPUs "8" or "0-3" names; none for anything else.
std::optional<std::int64_t> count_range(std::string_view range) {
  const auto first = parse_integer(next_part(range, '-'));
  const auto last = range.empty() ? first : parse_integer(range);
  if (!first || !last || *first < 0 || *last < *first || *last >= unknown_count) return std::nullopt;
  return *last - *first + 1;
}

// Of a list such as "0-3,8".
std::int64_t count_list(std::string_view list) {
  std::int64_t count = 0;
  while (!list.empty()) {
    const auto more = count_range(next_part(list, ','));
    if (!more) return unknown_count;
    count += *more;
  }
  return count > 0 ? std::min(count, unknown_count) : unknown_count;
}

std::int64_t read_cpuset(const String& folder, bool version_2) {
  const String text = read_file(folder + (version_2 ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus"));
  return count_list(std::string_view(text).substr(0, text.find('\n')));
}

// The cgroup that the process is in: lines of "4:cpu,cpuacct:/path"; version 2's is "0::/path".
std::string_view cgroup_path(std::string_view cgroups, bool version_2, std::string_view controller) {
  while (!cgroups.empty()) {
    std::string_view line = next_part(cgroups, '\n');
    const std::string_view id = next_part(line, ':');
    const std::string_view names = next_part(line, ':');
    if (version_2 ? id == "0" && names.empty() : lists(names, controller)) return line;
  }
  return {};
}

// The part of `path` below `top`. Empty if it is not below it: seen from inside a container, the
// path can be the host's.
std::string_view below(std::string_view path, std::string_view top) {
  if (top == "/") top = {};
  if (!path.starts_with(top)) return {};
  path.remove_prefix(top.size());
  const bool inside = path.starts_with('/') && path.find("/..") == path.npos;
  return inside && path != "/" ? path : std::string_view{};
}

// The folder itself, and its parents up to the mount point.
std::vector<String, detail::PooledAllocator<String>> with_parents(std::string_view mount_point, std::string_view path) {
  std::vector<String, detail::PooledAllocator<String>> folders;
  for (; !path.empty(); path = path.substr(0, path.rfind('/'))) folders.emplace_back(mount_point).append(path);
  folders.emplace_back(mount_point);
  return folders;
}

}  // namespace

double CpuLimits::cpus() const noexcept { return std::min(static_cast<double>(affinity), quota); }

double CpuLimits::for_rank(int local_size) const noexcept {
  const bool own_mask = affinity < offered && affinity <= offered / std::max(local_size, 1);
  return local_size <= 1 || own_mask ? cpus() : cpus() / local_size;
}

std::uint64_t MemoryLimits::bytes() const noexcept { return std::min(cgroup, available); }

HostLimits::Cpus HostLimits::read_cpus() {
  const int online = std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
  return {online, std::max(1, cpus_in_mask_of_process(online))};
}

// A line of mountinfo: "31 23 0:28 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct"
// has root and mount point as fields 4 and 5, any number of fields up to the dash, then type,
// source and options.
HostLimits::HostLimits(std::string root, std::function<Cpus()> cpus) : root_(std::move(root)), cpus_(std::move(cpus)) {
  const String mounts = read_file(String(root_) + "/proc/self/mountinfo");
  for (const std::string_view line : split(mounts, '\n')) {
    const auto fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.end() - dash < 4 || dash - fields.begin() < 6) continue;
    const bool version_2 = dash[1] == "cgroup2";
    if (version_2 || dash[1] == "cgroup")
      hierarchies_.push_back({version_2, std::string(dash[3]), unescape(fields[3]), root_ + unescape(fields[4])});
  }
}

String HostLimits::cgroups() const { return read_file(String(root_) + "/proc/self/cgroup"); }

HostLimits::Folders HostLimits::folders_with(std::string_view controller, std::string_view cgroups) const {
  Folders folders;
  for (const Hierarchy& hierarchy : hierarchies_) {
    const bool version_2 = hierarchy.version_2;
    if (!version_2 && !lists(hierarchy.options, controller)) continue;
    const auto path = below(cgroup_path(cgroups, version_2, controller), hierarchy.root);
    for (String& folder : with_parents(hierarchy.mount_point, path)) folders.push_back({version_2, std::move(folder)});
  }
  return folders;
}

CpuLimits HostLimits::cpus() const {
  const Cpus cpus = cpus_();
  CpuLimits limits{.offered = cpus.online, .affinity = cpus.affinity};
  const String cgroups = this->cgroups();
  for (const Folder& folder : folders_with("cpu", cgroups)) {
    const double quota = folder.version_2 ? read_quota_2(folder.path) : read_quota_1(folder.path);
    limits.quota = std::min(limits.quota, quota);
  }
  for (const Folder& folder : folders_with("cpuset", cgroups)) {
    const std::int64_t count = read_cpuset(folder.path, folder.version_2);
    limits.offered = static_cast<int>(std::min<std::int64_t>(limits.offered, count));
  }
  return limits;
}

MemoryLimits HostLimits::memory() const {
  MemoryLimits limits{.available = read_available(String(root_) + "/proc/meminfo")};
  for (const Folder& folder : folders_with("memory", cgroups())) {
    const char* const name = folder.version_2 ? "/memory.max" : "/memory.limit_in_bytes";
    limits.cgroup = std::min(limits.cgroup, read_limit(folder.path + name));
  }
  return limits;
}

}  // namespace penstock
