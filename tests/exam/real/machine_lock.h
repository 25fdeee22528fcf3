// MachineLock: one program measures on this machine at a time.
#pragma once

#include <string>

namespace penstock::exam {

// Held until it is destroyed, or the process ends. Not for several threads.
class MachineLock {
 public:
  // Throws std::runtime_error where another process holds it, or where the file cannot be opened.
  explicit MachineLock(const std::string& file);
  ~MachineLock();
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;

  // The file that all programs agree on, in the folder for temporary files.
  static std::string usual_file();

 private:
  int descriptor_;
};

}  // namespace penstock::exam
