// What tells one kind of machine from another.
#include "lib/runtime/machine_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace penstock::runtime {
namespace {

std::string text_of(const std::string& cpuinfo, const std::string& meminfo) {
  const test::TemporaryFolder root;
  std::filesystem::create_directory(root.path() / "proc");
  std::ofstream(root.path() / "proc/cpuinfo") << cpuinfo;
  std::ofstream(root.path() / "proc/meminfo") << meminfo;
  return machine_text(root.path());
}

TEST(MachineText, NamesTheCpuAndTheMemory) {
  const std::string two =
      "processor\t: 0\nmodel name\t: EPYC\ncpu MHz\t: 2596.1\n\nprocessor\t: 1\nmodel name\t: EPYC\n";
  EXPECT_EQ(text_of(two, "MemTotal:       24684092 kB\nMemFree: 1 kB\n"), "model name\t: EPYC, 24 GiB");
  const std::string arm = "processor\t: 0\nBogoMIPS\t: 50.0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
  EXPECT_EQ(text_of(arm, "MemTotal: 8000000 kB\n"), "CPU implementer\t: 0x41, CPU part\t: 0xd40, 8 GiB");
}

TEST(MachineText, LeavesOutWhatItCannotRead) {
  EXPECT_EQ(text_of("", "MemTotal: lots"), "");
  EXPECT_EQ(text_of("model name", ""), "model name, ");
  EXPECT_EQ(machine_text("/no/such/folder"), "");
}

TEST(MachineText, IsTheSameEachTime) {
  EXPECT_NE(machine_text(), "");
  EXPECT_EQ(machine_text(), machine_text());
}

}  // namespace
}  // namespace penstock::runtime
