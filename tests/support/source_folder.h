// Where files lie that tests read. The paths stand in one object alone: what all other objects are made of is the same
// in each clone, so that ccache finds them again.
#pragma once

#include <filesystem>

namespace penstock::test {

// The root of the repository.
std::filesystem::path source_folder();

// $PENSTOCK_SHARED, else what CMake was told, else "shared" beside the repository.
std::filesystem::path shared_folder();

}  // namespace penstock::test
