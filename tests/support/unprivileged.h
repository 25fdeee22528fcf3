// While an Unprivileged lives the process has no more rights than any user: for tests of files that may not be read,
// which root can read.
//
//   std::filesystem::permissions(file, std::filesystem::perms::none);
//   const test::Unprivileged scope;
#pragma once

#include <unistd.h>

#include <filesystem>
#include <stdexcept>

namespace penstock::test {

// All files below, whatever the umask: what a test shuts is then all that is shut.
inline void let_all_read(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  // The group too: of its files those of others say nothing, and root's group stays.
  constexpr auto all = fs::perms::others_exec | fs::perms::others_read | fs::perms::group_exec | fs::perms::group_read;
  fs::permissions(folder, all, fs::perm_options::add);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_symlink()) fs::permissions(entry.path(), all, fs::perm_options::add);
}

class Unprivileged {
 public:
  Unprivileged() : was_root_(::geteuid() == 0) {
    if (was_root_ && ::seteuid(nobody) != 0) throw std::runtime_error("cannot give up root's rights");
  }
  ~Unprivileged() {
    if (was_root_) (void)!::seteuid(0);
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  static constexpr uid_t nobody = 65534;
  bool was_root_;
};

}  // namespace penstock::test
