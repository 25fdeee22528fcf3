#include "tests/support/fake_file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace penstock::test {

class FakeFileSystem::OpenFile final : public io::File {
 public:
  OpenFile(const FakeFileSystem& files, std::string path, NodeRef node, std::size_t size)
      : files_(files), path_(std::move(path)), node_(std::move(node)), half_(size / 2) {}
  ~OpenFile() override {
    const MutexLock lock(files_.mutex_);
    files_.calls_.emplace_back("close");
  }

  io::Answer<io::FileStatus> status() override {
    const MutexLock lock(files_.mutex_);
    files_.calls_.emplace_back("status");
    if (const int error = files_.fault(path_, "status", &Faults::status)) return {.error = error};
    return {.value = files_.status_of(*node_)};
  }

  io::Answer<std::size_t> read(std::span<std::byte> to) override {
    change_half_way();
    const MutexLock lock(files_.mutex_);
    files_.calls_.emplace_back("read");
    const Faults& faults = files_.faults_of(path_);
    if (position_ >= faults.after)
      if (const int error = files_.fault(path_, "read", &Faults::read)) return {.error = error};
    const std::size_t left = node_->bytes.size() - std::min(position_, node_->bytes.size());
    const std::size_t count = std::min({to.size(), left, faults.at_once, until_something_happens(faults)});
    std::memcpy(to.data(), node_->bytes.data() + std::min(position_, node_->bytes.size()), count);
    position_ += count;
    return {.value = count};
  }

  int rewind() override {
    const MutexLock lock(files_.mutex_);
    files_.calls_.emplace_back("rewind");
    if (const int error = files_.fault(path_, "rewind", &Faults::rewind)) return error;
    position_ = 0;
    is_changed_ = false;
    return 0;
  }

  int seek(std::size_t place) override {
    position_ = place;
    return 0;
  }

 private:
  // Bytes up to the next place where a call of its own must begin.
  std::size_t until_something_happens(const Faults& faults) const {
    std::size_t bytes = std::numeric_limits<std::size_t>::max();
    if (faults.read != 0 && position_ < faults.after) bytes = faults.after - position_;
    if (faults.half_way && position_ < half_) bytes = std::min(bytes, half_ - position_);
    return bytes;
  }

  // Without the lock: what is done comes back to the file system.
  void change_half_way() {
    if (position_ < half_ || std::exchange(is_changed_, true)) return;
    std::function<void()> change;
    {
      const MutexLock lock(files_.mutex_);
      change = files_.faults_of(path_).half_way;
    }
    if (change) change();
  }

  const FakeFileSystem& files_;
  const std::string path_;
  const NodeRef node_;
  const std::size_t half_;
  std::size_t position_ = 0;
  bool is_changed_ = false;
};

class FakeFileSystem::UnpublishedFile final : public io::NewFile {
 public:
  UnpublishedFile(const FakeFileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}
  ~UnpublishedFile() override {
    const MutexLock lock(files_.mutex_);
    files_.owned_.erase(path_);
  }

  io::Answer<std::size_t> write(std::span<const std::byte> bytes) override {
    const MutexLock lock(files_.mutex_);
    const Faults& faults = files_.faults_of(path_);
    if (bytes_.size() >= faults.after)
      if (const int error = files_.fault(path_, "write", &Faults::write)) return {.error = error};
    std::size_t count = std::min(bytes.size(), faults.at_once);
    if (faults.write != 0 && bytes_.size() < faults.after) count = std::min(count, faults.after - bytes_.size());
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), count);
    return {.value = count};
  }

  int publish() override {
    const MutexLock lock(files_.mutex_);
    files_.calls_.push_back("publish " + path_);
    if (const int error = files_.fault(path_, "publish", &Faults::publish)) return error;
    files_.put(path_, {.bytes = std::move(bytes_)});
    return 0;
  }

 private:
  const FakeFileSystem& files_;
  const std::string path_;
  std::string bytes_;
};

io::Answer<std::unique_ptr<io::NewFile>> FakeFileSystem::create(const std::string& path) const {
  const MutexLock lock(mutex_);
  calls_.push_back("create " + path);
  if (const int error = fault(path, "create", &Faults::create)) return {.error = error};
  if (!owned_.insert(path).second) return {.error = EWOULDBLOCK};
  return {.value = std::make_unique<UnpublishedFile>(*this, path)};
}

void FakeFileSystem::put(const std::string& path, Node node) const {
  node.written = ++writings_;
  nodes_[path] = std::make_shared<Node>(std::move(node));
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    auto& folder = nodes_[path.substr(0, slash)];
    if (!folder) folder = std::make_shared<Node>(Node{.kind = io::FileKind::folder});
  }
}

void FakeFileSystem::add(const std::string& path, std::string bytes) {
  const MutexLock lock(mutex_);
  put(path, {.bytes = std::move(bytes)});
}

void FakeFileSystem::add(const std::string& path, io::FileKind kind) {
  const MutexLock lock(mutex_);
  put(path, {.kind = kind});
}

void FakeFileSystem::overwrite(const std::string& path, std::string bytes) {
  const MutexLock lock(mutex_);
  Node& node = *nodes_.at(path);
  node.bytes = std::move(bytes);
  node.written = ++writings_;
}

void FakeFileSystem::fail(const std::string& path, Faults faults) {
  const MutexLock lock(mutex_);
  faults_[path] = std::move(faults);
}

std::string FakeFileSystem::bytes_of(const std::string& path) const {
  const MutexLock lock(mutex_);
  return nodes_.at(path)->bytes;
}

std::vector<std::string> FakeFileSystem::calls() const {
  const MutexLock lock(mutex_);
  return calls_;
}

io::FileStatus FakeFileSystem::status_of(const Node& node) const {
  return {.kind = node.kind, .version = {.size = node.bytes.size(), .written_s = 0, .written_ns = node.written}};
}

const Faults& FakeFileSystem::faults_of(const std::string& path) const {
  static const Faults none;
  const auto found = faults_.find(path);
  return found == faults_.end() ? none : found->second;
}

int FakeFileSystem::fault(const std::string& path, const char* call, int Faults::*number) const {
  const Faults& faults = faults_of(path);
  if (faults.*number == 0) return 0;
  if (faults.times == 0) return faults.*number;
  const int turn = turns_[std::string(call) + ' ' + path]++ % (faults.times + 1);
  return turn < faults.times ? faults.*number : 0;
}

io::Answer<std::unique_ptr<io::File>> FakeFileSystem::open(const std::string& path) const {
  const MutexLock lock(mutex_);
  calls_.push_back("open " + path);
  if (const int error = fault(path, "open", &Faults::open)) return {.error = error};
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return {.error = ENOENT};
  return {.value = std::make_unique<OpenFile>(*this, path, found->second, found->second->bytes.size())};
}

io::Answer<io::FileStatus> FakeFileSystem::status(const std::string& path) const {
  const MutexLock lock(mutex_);
  calls_.push_back("status " + path);
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return {.error = ENOENT};
  return {.value = status_of(*found->second)};
}

io::Answer<std::vector<io::FolderEntry>> FakeFileSystem::list(const std::string& folder) const {
  const MutexLock lock(mutex_);
  calls_.push_back("list " + folder);
  const auto found = nodes_.find(folder);
  if (found == nodes_.end()) return {.error = ENOENT};
  if (found->second->kind != io::FileKind::folder) return {.error = ENOTDIR};
  io::Answer<std::vector<io::FolderEntry>> answer{.value = {}, .error = fault(folder, "list", &Faults::list)};
  const std::string head = folder + '/';
  for (const auto& [path, node] : nodes_) {
    const bool is_right_below = path.starts_with(head) && path.find('/', head.size()) == std::string::npos;
    if (is_right_below)
      answer.value.push_back({.name = path.substr(head.size()), .is_folder = node->kind == io::FileKind::folder});
  }
  return answer;
}

io::Answer<std::string> FakeFileSystem::real_path(const std::string& path) const {
  const MutexLock lock(mutex_);
  calls_.push_back("real_path " + path);
  if (const int error = fault(path, "real_path", &Faults::real_path)) return {.error = error};
  if (!nodes_.contains(path)) return {.error = ENOENT};
  return {.value = path};
}

int FakeFileSystem::replace(const std::string& path, std::span<const std::byte> bytes) const {
  const MutexLock lock(mutex_);
  calls_.push_back("replace " + path);
  if (const int error = fault(path, "replace", &Faults::replace)) return error;
  put(path, {.bytes = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  return 0;
}

void FakeFileSystem::pause(std::chrono::milliseconds time) const {
  const MutexLock lock(mutex_);
  calls_.push_back("pause " + std::to_string(time.count()));
}

}  // namespace penstock::test
