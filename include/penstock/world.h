// World: which of how many processes this is.
//
//   const ps::World world = ps::World::detect();
//   auto train = ps::from_file_list("train.txt").shuffle(200'000, {.seed = 7}).shard(world);
//
// A plain value that is read from the launcher's environment variables; the library starts no
// communicator and talks to no other process. A program that knows better builds one itself:
// ps::World{.size = 8, .rank = 3}.
#pragma once

#include <functional>
#include <string>

#pragma GCC visibility push(default)

namespace penstock {

struct World {
  int size = 1;        // processes in all
  int rank = 0;        // this one, in [0, size)
  int local_size = 0;  // processes on this machine; 0: unknown
  int local_rank = 0;  // this one among them, in [0, local_size); 0 also where unknown
  int node = -1;       // which machine, counted by the launcher; -1: unknown
  int restart = 0;     // how often the launcher has restarted the job
  // Who said so: a launcher's name, "explicit", or "none" for a process on its own.
  std::string source = "explicit";

  // Looks a variable up; nullptr if it is not set. Tests put a map here.
  using Environment = std::function<const char*(const char* name)>;

  // Asks the launchers below in this order and takes the first one that is there. The innermost
  // comes first: torchrun inside srun sees both sets, and torchrun's is right. None there: one
  // process, source "none".
  //
  //  explicit   PENSTOCK_WORLD_SIZE  PENSTOCK_RANK  PENSTOCK_LOCAL_SIZE  PENSTOCK_LOCAL_RANK
  //  torchrun   WORLD_SIZE  RANK  LOCAL_WORLD_SIZE  LOCAL_RANK  GROUP_RANK  TORCHELASTIC_RESTART_COUNT,
  //             if TORCHELASTIC_RUN_ID is set
  //  Horovod    HOROVOD_SIZE  HOROVOD_RANK  HOROVOD_LOCAL_SIZE  HOROVOD_LOCAL_RANK  HOROVOD_CROSS_RANK
  //  Open MPI   OMPI_COMM_WORLD_SIZE  _RANK  _LOCAL_SIZE  _LOCAL_RANK
  //  MVAPICH    MV2_COMM_WORLD_SIZE  _RANK  _LOCAL_SIZE  _LOCAL_RANK
  //  PMI        PMI_SIZE  PMI_RANK, with MPI_LOCALNRANKS  MPI_LOCALRANKID (MPICH, Intel MPI)
  //             or PMI_LOCAL_SIZE  PMI_LOCAL_RANK (Cray PALS)
  //  Slurm      SLURM_STEP_NUM_TASKS (else SLURM_NTASKS)  SLURM_PROCID  SLURM_LOCALID  SLURM_NODEID
  //             SLURM_STEP_TASKS_PER_NODE, inside a step only (SLURM_STEP_ID is set): a batch
  //             script without srun is one process, whatever its SLURM_NTASKS says
  //  generic    WORLD_SIZE  RANK  LOCAL_WORLD_SIZE  LOCAL_RANK
  //
  // Error(invalid_argument) that names the variable: a rank without a size or the other way round,
  // a value that is not a whole number, a rank outside its size. Never a silent single process:
  // that trains N times on everything. Reads the environment, so not while another thread calls
  // setenv. A few microseconds.
  static World detect();
  static World detect(const Environment& environment);

  friend bool operator==(const World&, const World&) = default;
};

// For reports: "rank 5 of 8, local 1 of 4, node 1 (torchrun)".
std::string to_string(const World& world);

}  // namespace penstock

#pragma GCC visibility pop
