// One order for any number of ranks.
//
//   two_ranks                        one process takes everything
//   mpirun -n 2 two_ranks            two share it, without a word to each other; srun and torchrun do as well
//
// Shuffled first and dealt out then, the elements have a global order that depends on the seed and the epoch alone:
// position p goes to rank p modulo size. So a step's batches, taken over all ranks, hold the same elements for 1, 2 or
// 4 ranks.
#include <penstock/penstock.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace ps = penstock;

namespace {

constexpr std::int64_t elements = 96, global_batch = 8;
constexpr std::uint32_t epochs = 2;

void run_rank(const ps::World& world) {
  if (global_batch % world.size != 0) throw std::invalid_argument("start 1, 2, 4 or 8 ranks: they share batches of 8");
  auto batches = ps::range(elements)
                     .shuffle(elements, {.seed = 7})  // the same permutation on every rank
                     .shard(world)
                     .batch(global_batch / world.size, {.drop_remainder = true})  // as many steps on every rank
                     .prefetch();
  auto run = batches.start({.epochs = epochs});
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    int step = 0;
    for (const auto& batch : run.epoch(epoch)) {
      std::ostringstream line;  // written at once: ranks may share the terminal
      line << "epoch " << epoch << " step " << step++ << " rank " << world.rank << ':';
      for (std::int64_t element : batch) line << ' ' << element;
      std::cout << line.str() + '\n';
    }
  }
}

}  // namespace

int main() try {
  const ps::World world = ps::World::detect();  // reads the launcher's environment; no MPI is linked
  std::cerr << ps::to_string(world) << '\n';
  run_rank(world);
} catch (const std::exception& error) {
  std::cerr << "two_ranks: " << error.what() << '\n';
  return 1;
}
