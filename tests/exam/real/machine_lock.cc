#include "tests/exam/real/machine_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace penstock::exam {

MachineLock::MachineLock(const std::string& file)
    : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "cannot open the lock " + file);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(descriptor_);
  throw std::runtime_error("another program measures on this machine (it holds " + file +
                           "): try again when it has ended");
}

MachineLock::~MachineLock() { ::close(descriptor_); }

std::string MachineLock::usual_file() {
  return (std::filesystem::temp_directory_path() / "penstock-measures.lock").string();
}

}  // namespace penstock::exam
