// How many processes share this machine, as far as their launcher tells: each of them gets its part of the CPUs, of the
// memory and of the threads.
#pragma once

#include <string>

#include <penstock/world.h>

namespace penstock::runtime {

struct LocalRanks {
  int count = 1;        // at least 1
  std::string warning;  // why nothing is divided although there may be others; empty: nothing to say
};

// Never throws for what the launcher says: who does not ask for its shard does not care.
LocalRanks local_ranks(const World::Environment& environment);

}  // namespace penstock::runtime
