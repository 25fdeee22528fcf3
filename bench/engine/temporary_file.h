// The path of a file of this process's own. What lies there goes with this.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace penstock::bench {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("penstock-" + name + "-" + std::to_string(::getpid()))) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

}  // namespace penstock::bench
