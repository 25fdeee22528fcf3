// A job that loses a node and goes on with the ranks that are left.
//
//   mpirun -n 4 elastic none first 5       four ranks, which end after 5 steps as if they had been killed
//   mpirun -n 3 elastic first second       three go on where the four stood; srun and torchrun start them as well
//
// Ranks make their steps together, so one checkpoint is that of all: rank 0 writes it. What is before shard(world) is
// positions, in a global order that depends on the seed and the epoch alone, and all ranks together take a batch of 12
// whatever their number: so the global batches are those of a job that was never killed.
//
// All ranks must have read a checkpoint before rank 0 writes the next one. In training their first exchange of
// gradients sees to that; here nobody waits for anybody, so the next one gets another name.
#include <penstock/penstock.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace ps = penstock;

namespace {

constexpr std::int64_t elements = 96, global_batch = 12;
constexpr std::uint32_t epochs = 2;

void print(const ps::World& world, std::uint32_t epoch, std::int64_t step, const std::vector<std::int64_t>& batch) {
  std::ostringstream line;  // written at once: ranks may share the terminal
  line << "epoch " << epoch << " step " << step << " rank " << world.rank << ':';
  for (std::int64_t element : batch) line << ' ' << element;
  std::cout << line.str() + '\n';
}

void run_rank(const ps::World& world, const std::string& from, const std::string& to, std::int64_t steps_to_live) {
  if (global_batch % world.size != 0) throw std::invalid_argument("start 1, 2, 3, 4, 6 or 12 ranks: they share 12");
  auto batches = ps::range(elements)
                     .shuffle(elements, {.seed = 7})
                     .shard(world)
                     .batch(global_batch / world.size, {.drop_remainder = true})
                     .prefetch();
  const auto saved = ps::load_checkpoint(from);  // null where there is none
  auto run = batches.start({.epochs = epochs, .resume_from = saved});
  std::int64_t step = saved ? saved->delivered : 0;  // in the epoch, of ranks of this number too: steps are the same
  for (std::uint32_t epoch = saved ? saved->epoch : 0; epoch < epochs; ++epoch, step = 0) {
    if (saved && saved->epoch == epoch && saved->epoch_ended) continue;
    for (const auto& batch : run.epoch(epoch)) {
      print(world, epoch, step++, batch);  // a training step, by the end of which all ranks have come as far
      if (world.rank == 0) ps::save_checkpoint(to, run);
      if (--steps_to_live == 0) return;
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) throw std::invalid_argument("usage: elastic FROM TO [STEPS]");
  const ps::World world = ps::World::detect();
  std::cerr << ps::to_string(world) << '\n';
  run_rank(world, argv[1], argv[2], argc > 3 ? std::stoll(argv[3]) : -1);
} catch (const std::exception& error) {
  std::cerr << "elastic: " << error.what() << '\n';
  return 1;
}
