#include "lib/runtime/local_ranks.h"

#include <penstock/error.h>

namespace penstock::runtime {
namespace {

std::string not_divided(const std::string& why) {
  return "CPUs and memory are not divided among the processes of this machine: " + why +
         ". Set PENSTOCK_LOCAL_SIZE beside PENSTOCK_WORLD_SIZE and PENSTOCK_RANK, or RunOptions::threads and "
         "memory_bytes";
}

}  // namespace

LocalRanks local_ranks(const World::Environment& environment) {
  try {
    const World world = World::detect(environment);
    if (world.local_size > 0) return {world.local_size, {}};
    return {1, not_divided(to_string(world) + " does not tell how many there are")};
  } catch (const Error& error) {
    return {1, not_divided(error.what())};
  }
}

}  // namespace penstock::runtime
