// What a series of random graphs is told by the environment, and the folder that it writes to.
//
//   PENSTOCK_SEED=n        only the graph n, the one that a failure names
//   PENSTOCK_FULL=1        ten times as many graphs
//   PENSTOCK_SMALL=1       a tenth, for sanitizers
//   PENSTOCK_TRACE=1       tells each seed before it is run, for crashes
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace random_graphs {

inline std::optional<std::uint64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::stoull(text);
}

inline bool is_on(const char* name) { return number_from_environment(name).value_or(0) != 0; }

inline std::int64_t graphs(std::int64_t usual) {
  if (is_on("PENSTOCK_SMALL")) return usual / 10;
  return is_on("PENSTOCK_FULL") ? 10 * usual : usual;
}

// A folder of its own, gone with the object.
class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "penstock-random-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace random_graphs
