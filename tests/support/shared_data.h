// The golden files and pictures that lie beside the repository, not in it. Tests that need them
// skip where they are absent.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/source_folder.h"

namespace penstock::test {

// A golden file, for example "crops.json"; null where it is absent.
inline nlohmann::json golden_file(const std::string& name) {
  std::ifstream file(shared_folder() / "golden" / name);
  return file ? nlohmann::json::parse(file) : nlohmann::json();
}

}  // namespace penstock::test

// First line of a test that reads shared/RELATIVE.
#define PENSTOCK_NEEDS_SHARED(relative)                                                      \
  do {                                                                                       \
    const auto needed = ::penstock::test::shared_folder() / (relative);                      \
    if (!std::filesystem::exists(needed))                                                    \
      GTEST_SKIP() << needed << " is absent; set PENSTOCK_SHARED to the folder that has it"; \
  } while (false)
