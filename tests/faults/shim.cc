// Faults for programs that know nothing of them: a library for LD_PRELOAD that stands between a program and the system.
//
//   LD_PRELOAD=libpenstock_faults.so PENSTOCK_FAULTS=read:EIO:match=.JPEG:every=7 program
//
// PENSTOCK_FAULTS is CALL:KIND and then any of the settings below. A file is hit if its path ends in `match` and the
// hash of its name is a multiple of `every`: the same files in each run, and each time that they are opened.
//
//   CALL    KIND                          what happens
//   open    an errno                      open, open64, openat, openat64
//   fstat   an errno
//   read    an errno
//   change  truncate, rewrite, replace    between two calls of read, which gives half of the file first, the file
//           itself is cut
//                                         to that half, gets the bytes of PATH.new, or another file takes its name. It
//                                         is put back when it is closed
//   mmap    an errno                      anonymous memory of `min` to `max` bytes
//   aligned_alloc  ENOMEM                 of `min` to `max` bytes; aligned operator new ends there
//
//   times=N    N times in a row, of each file or of each thread that asks for memory, then once not; 0, the default:
//              always
//   after=N    read: after N bytes
//
// PENSTOCK_FAULTS_LOG names a file that gets a line for each fault: the path, or the bytes asked for.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace {

// The system's own function of that name.
template <class Function> Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::string from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

int errno_of(const std::string& name) {
  static const std::map<std::string, int> numbers{
      {"EIO", EIO}, {"EINTR", EINTR}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}};
  const auto found = numbers.find(name);
  return found == numbers.end() ? 0 : found->second;
}

// What PENSTOCK_FAULTS says.
struct Rule {
  std::string call, kind, match;
  std::map<std::string, std::uint64_t> numbers;

  static const Rule& get() {
    static const Rule rule(from_environment("PENSTOCK_FAULTS"));
    return rule;
  }
  std::uint64_t number(const char* name, std::uint64_t otherwise = 0) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? otherwise : found->second;
  }
  bool hits(const std::string& path) const {
    if (path.size() < match.size() || path.compare(path.size() - match.size(), match.size(), match) != 0) return false;
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const char c : path.substr(path.rfind('/') + 1))
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash / 7 % number("every", 1) == 0;
  }
  bool hits(std::size_t bytes) const { return bytes >= number("min") && bytes <= number("max", ~std::uint64_t{0}); }

 private:
  explicit Rule(std::string text) {
    text += ':';
    for (std::size_t end = 0, field = 0; (end = text.find(':')) != std::string::npos; text.erase(0, end + 1), ++field)
      set(field, text.substr(0, end));
  }
  void set(std::size_t field, const std::string& text) {
    if (field < 2) return void((field == 0 ? call : kind) = text);
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return;
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    if (name == "match")
      match = value;
    else
      numbers[name] = std::strtoull(value.c_str(), nullptr, 10);
  }
};

void log(const std::string& what) {
  static const std::string path = from_environment("PENSTOCK_FAULTS_LOG");
  if (path.empty()) return;
  const std::string line = what + '\n';
  const int file = real<int(const char*, int, ...)>("open")(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (::write(file, line.data(), line.size()) < 0) std::abort();
  real<int(int)>("close")(file);
}

// "N times in a row, then once not".
class Turns {
 public:
  bool next() {
    const std::uint64_t times = Rule::get().number("times");
    return times == 0 || turns_++ % (times + 1) < times;
  }

 private:
  std::uint64_t turns_ = 0;
};

// A file that is hit. Used by one thread at a time, as a pipeline reads a file once in an epoch.
class File {
 public:
  explicit File(std::string path) : path_(std::move(path)) {}

  // The fault of this call; 0: none.
  int fault(const char* call) {
    const Rule& rule = Rule::get();
    if (rule.call != call || (rule.call == "read" && given_ < rule.number("after")) || !turns_.next()) return 0;
    log(path_);
    return errno_of(rule.kind);
  }

  void opened(int descriptor) {
    given_ = 0;
    is_changed_ = false;
    struct stat status {};
    real<int(int, struct stat*)>("fstat")(descriptor, &status);
    size_ = static_cast<std::size_t>(status.st_size);
  }

  ssize_t read(int descriptor, void* to, std::size_t count) {
    const Rule& rule = Rule::get();
    if (rule.call == "read" && given_ < rule.number("after")) count = std::min(count, rule.number("after") - given_);
    if (rule.call == "change") count = given_ < size_ / 2 ? std::min(count, size_ / 2 - given_) : change(count);
    const ssize_t got = real<ssize_t(int, void*, std::size_t)>("read")(descriptor, to, count);
    if (got > 0) given_ += static_cast<std::size_t>(got);
    return got;
  }

  void closed() {
    if (!is_changed_) return;
    if (Rule::get().kind == "replace") {
      ::rename(path_.c_str(), (path_ + ".new").c_str());
      ::rename((path_ + ".old").c_str(), path_.c_str());
    } else {
      write(old_);
    }
  }

 private:
  // Nothing is changed twice. Returns `count`.
  std::size_t change(std::size_t count) {
    if (std::exchange(is_changed_, true)) return count;
    const std::string& kind = Rule::get().kind;
    old_ = contents(path_);
    log(path_);
    if (kind == "truncate") write(old_.substr(0, size_ / 2));
    if (kind == "rewrite") write(contents(path_ + ".new"));
    if (kind == "replace") {
      ::rename(path_.c_str(), (path_ + ".old").c_str());
      ::rename((path_ + ".new").c_str(), path_.c_str());
    }
    return count;
  }
  static std::string contents(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // In place: whoever has it open sees it.
  void write(const std::string& bytes) const {
    const int file = real<int(const char*, int, ...)>("open")(path_.c_str(), O_WRONLY);
    if (::pwrite(file, bytes.data(), bytes.size(), 0) < 0 || ::ftruncate(file, static_cast<off_t>(bytes.size())) != 0)
      std::abort();
    real<int(int)>("close")(file);
  }

  const std::string path_;
  Turns turns_;
  std::size_t size_ = 0;   // when it was opened
  std::size_t given_ = 0;  // bytes since
  bool is_changed_ = false;
  std::string old_;
};

// The files that are hit, by path and, while they are open, by descriptor.
class Files {
 public:
  static Files& get() {
    static auto* files = new Files;  // outlives whatever reads at the program's end
    return *files;
  }
  File* hit_by(const char* path) {
    if (path == nullptr || !Rule::get().hits(std::string(path))) return nullptr;
    const std::lock_guard lock(mutex_);
    auto& file = by_path_[path];
    if (!file) file = std::make_unique<File>(path);
    return file.get();
  }
  std::atomic<File*>& open(int descriptor) { return open_[static_cast<std::size_t>(descriptor) % open_.size()]; }

 private:
  std::mutex mutex_;  // by_path_
  std::map<std::string, std::unique_ptr<File>> by_path_;
  std::array<std::atomic<File*>, 65536> open_{};
};

template <class Open> int open_with(const char* path, const Open& system_open) {
  File* const file = Files::get().hit_by(path);
  if (file == nullptr) return system_open();
  if (const int number = file->fault("open")) return errno = number, -1;
  const int descriptor = system_open();
  if (descriptor >= 0) {
    file->opened(descriptor);
    Files::get().open(descriptor) = file;
  }
  return descriptor;
}

mode_t mode_in(va_list arguments, int flags) { return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0; }

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(arguments, flags);
  va_end(arguments);
  return open_with(path, [&] { return real<int(const char*, int, ...)>("open")(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(arguments, flags);
  va_end(arguments);
  return open_with(path, [&] { return real<int(const char*, int, ...)>("open64")(path, flags, mode); });
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(arguments, flags);
  va_end(arguments);
  return open_with(path, [&] { return real<int(int, const char*, int, ...)>("openat")(folder, path, flags, mode); });
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(arguments, flags);
  va_end(arguments);
  return open_with(path, [&] { return real<int(int, const char*, int, ...)>("openat64")(folder, path, flags, mode); });
}

int fstat(int descriptor, struct stat* status) noexcept {
  File* const file = descriptor < 0 ? nullptr : Files::get().open(descriptor).load();
  if (file != nullptr)
    if (const int number = file->fault("fstat")) return errno = number, -1;
  return real<int(int, struct stat*)>("fstat")(descriptor, status);
}

ssize_t read(int descriptor, void* to, std::size_t count) {
  File* const file = descriptor < 0 ? nullptr : Files::get().open(descriptor).load();
  if (file == nullptr) return real<ssize_t(int, void*, std::size_t)>("read")(descriptor, to, count);
  if (const int number = file->fault("read")) return errno = number, -1;
  return file->read(descriptor, to, count);
}

int close(int descriptor) {
  File* const file = descriptor < 0 ? nullptr : Files::get().open(descriptor).exchange(nullptr);
  if (file != nullptr) file->closed();
  return real<int(int)>("close")(descriptor);
}

void* mmap(void* at, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  // of all threads: another one's call could take the turn in which the second try is to go well
  thread_local Turns turns;
  const Rule& rule = Rule::get();
  if ((flags & MAP_ANONYMOUS) != 0 && rule.call == "mmap" && rule.hits(bytes) && turns.next()) {
    log(std::to_string(bytes));
    return errno = errno_of(rule.kind), MAP_FAILED;
  }
  return real<void*(void*, std::size_t, int, int, int, off_t)>("mmap")(at, bytes, protection, flags, descriptor,
                                                                       offset);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  thread_local Turns turns;
  const Rule& rule = Rule::get();
  if (rule.call == "aligned_alloc" && rule.hits(bytes) && turns.next()) {
    log(std::to_string(bytes));
    return errno = errno_of(rule.kind), nullptr;
  }
  return real<void*(std::size_t, std::size_t)>("aligned_alloc")(alignment, bytes);
}

}  // extern "C"
