#include <gtest/gtest.h>
#include <penstock/world.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using Variables = std::map<std::string, std::string>;

World detect(const Variables& variables) {
  return World::detect([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

Variables operator+(Variables a, const Variables& b) {
  a.insert(b.begin(), b.end());
  return a;
}

const Variables torchrun{{"TORCHELASTIC_RUN_ID", "none"},    {"WORLD_SIZE", "8"}, {"RANK", "5"},
                         {"LOCAL_WORLD_SIZE", "4"},          {"LOCAL_RANK", "1"}, {"GROUP_RANK", "1"},
                         {"TORCHELASTIC_RESTART_COUNT", "2"}};
const Variables slurm{{"SLURM_STEP_ID", "0"},
                      {"SLURM_STEP_NUM_TASKS", "11"},
                      {"SLURM_NTASKS", "99"},
                      {"SLURM_PROCID", "9"},
                      {"SLURM_LOCALID", "1"},
                      {"SLURM_NODEID", "2"},
                      {"SLURM_STEP_TASKS_PER_NODE", "4(x2),3"}};
const Variables open_mpi{{"OMPI_COMM_WORLD_SIZE", "6"},
                         {"OMPI_COMM_WORLD_RANK", "3"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};

TEST(World, IsOneProcessWithoutALauncher) { EXPECT_EQ(detect({}), (World{.local_size = 1, .source = "none"})); }

TEST(World, IsExplicitWhenBuiltByHand) {
  const World world{.size = 8, .rank = 3};
  EXPECT_EQ(world.source, "explicit");
  EXPECT_EQ(world.local_size, 0);
}

TEST(World, ReadsPenstocksOwnVariables) {
  EXPECT_EQ(detect({{"PENSTOCK_WORLD_SIZE", "4"},
                    {"PENSTOCK_RANK", "3"},
                    {"PENSTOCK_LOCAL_SIZE", "2"},
                    {"PENSTOCK_LOCAL_RANK", "1"}}),
            (World{.size = 4, .rank = 3, .local_size = 2, .local_rank = 1}));
}

TEST(World, ReadsTorchrun) {
  EXPECT_EQ(
      detect(torchrun),
      (World{.size = 8, .rank = 5, .local_size = 4, .local_rank = 1, .node = 1, .restart = 2, .source = "torchrun"}));
}

TEST(World, ReadsHorovod) {
  EXPECT_EQ(detect({{"HOROVOD_SIZE", "4"},
                    {"HOROVOD_RANK", "2"},
                    {"HOROVOD_LOCAL_SIZE", "2"},
                    {"HOROVOD_LOCAL_RANK", "0"},
                    {"HOROVOD_CROSS_RANK", "1"}}),
            (World{.size = 4, .rank = 2, .local_size = 2, .node = 1, .source = "Horovod"}));
}

TEST(World, ReadsOpenMpiAndMvapich) {
  EXPECT_EQ(detect(open_mpi), (World{.size = 6, .rank = 3, .local_size = 2, .local_rank = 1, .source = "Open MPI"}));
  EXPECT_EQ(detect({{"MV2_COMM_WORLD_SIZE", "6"},
                    {"MV2_COMM_WORLD_RANK", "3"},
                    {"MV2_COMM_WORLD_LOCAL_SIZE", "2"},
                    {"MV2_COMM_WORLD_LOCAL_RANK", "1"}}),
            (World{.size = 6, .rank = 3, .local_size = 2, .local_rank = 1, .source = "MVAPICH"}));
}

TEST(World, ReadsBothKindsOfPmi) {
  const World expected{.size = 6, .rank = 3, .local_size = 2, .local_rank = 1, .source = "PMI"};
  const Variables pmi{{"PMI_SIZE", "6"}, {"PMI_RANK", "3"}};
  EXPECT_EQ(detect(pmi + Variables{{"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}}), expected);
  EXPECT_EQ(detect(pmi + Variables{{"PMI_LOCAL_SIZE", "2"}, {"PMI_LOCAL_RANK", "1"}}), expected);
}

TEST(World, ReadsAStepOfSlurm) {
  EXPECT_EQ(detect(slurm),
            (World{.size = 11, .rank = 9, .local_size = 3, .local_rank = 1, .node = 2, .source = "Slurm"}));
}

TEST(World, FallsBackToSlurmsOlderSize) {
  Variables variables = slurm;
  variables.erase("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(detect(variables).size, 99);
}

TEST(World, IsOneProcessInABatchScriptWithoutAStep) {
  Variables variables = slurm;
  variables.erase("SLURM_STEP_ID");
  EXPECT_EQ(detect(variables).source, "none");
}

TEST(World, ReadsTheGenericVariables) {
  EXPECT_EQ(detect({{"WORLD_SIZE", "2"}, {"RANK", "1"}}), (World{.size = 2, .rank = 1, .source = "generic"}));
}

TEST(World, TakesTheInnermostLauncher) {
  EXPECT_EQ(detect(torchrun + slurm).source, "torchrun");
  EXPECT_EQ(detect(open_mpi + slurm).source, "Open MPI");
  const Variables own{{"PENSTOCK_WORLD_SIZE", "1"}, {"PENSTOCK_RANK", "0"}};
  EXPECT_EQ(detect(own + torchrun + open_mpi).source, "explicit");
  EXPECT_EQ(detect(slurm + Variables{{"WORLD_SIZE", "2"}, {"RANK", "1"}}).source, "Slurm");
}

TEST(World, FindsTheTasksOfEachNodeInSlurmsList) {
  const std::pair<const char*, const char*> sizes[] = {{"0", "4"}, {"1", "4"}, {"2", "3"}};
  for (const auto& [node, tasks] : sizes) {
    Variables variables = slurm;
    variables["SLURM_NODEID"] = node;
    EXPECT_EQ(detect(variables).local_size, std::stoi(tasks)) << node;
  }
}

TEST(World, RefusesAListOfSlurmThatMakesNoSense) {
  for (const char* list : {"", ",", "x", "4(x", "4(x)", "(x2)", "4(x-1)", "4(x99999999999999999999)", "4"}) {
    Variables variables = slurm;
    variables["SLURM_STEP_TASKS_PER_NODE"] = list;
    EXPECT_ERROR(detect(variables), ErrorCode::invalid_argument, "SLURM_STEP_TASKS_PER_NODE");
  }
}

TEST(World, RefusesAPartialSetAndNamesWhatIsMissing) {
  EXPECT_ERROR(detect({{"RANK", "1"}}), ErrorCode::invalid_argument, "WORLD_SIZE is not set");
  EXPECT_ERROR(detect({{"WORLD_SIZE", "2"}}), ErrorCode::invalid_argument, "RANK is not set");
  EXPECT_ERROR(detect({{"PMI_RANK", "0"}}), ErrorCode::invalid_argument, "PMI_SIZE is not set");
  EXPECT_ERROR(detect({{"TORCHELASTIC_RUN_ID", "x"}}), ErrorCode::invalid_argument, "WORLD_SIZE");
  EXPECT_ERROR(detect({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}}), ErrorCode::invalid_argument,
               "SLURM_STEP_NUM_TASKS");
}

TEST(World, RefusesAPartialSetEvenIfAnotherOneIsComplete) {
  EXPECT_ERROR(detect(slurm + Variables{{"OMPI_COMM_WORLD_RANK", "0"}}), ErrorCode::invalid_argument,
               "OMPI_COMM_WORLD_SIZE is not set");
}

TEST(World, RefusesWhatIsNotANumber) {
  for (const char* text : {"", " 1", "1x", "-1", "1.0", "0x1", "99999999999"})
    EXPECT_ERROR(detect({{"WORLD_SIZE", "2"}, {"RANK", text}}), ErrorCode::invalid_argument,
                 std::string("RANK is '") + text + "'");
  Variables variables = torchrun;
  variables["GROUP_RANK"] = "first";
  EXPECT_ERROR(detect(variables), ErrorCode::invalid_argument, "GROUP_RANK is 'first'");
}

TEST(World, RefusesARankOutsideItsSize) {
  EXPECT_ERROR(detect({{"WORLD_SIZE", "2"}, {"RANK", "2"}}), ErrorCode::invalid_argument,
               "RANK is 2, outside [0, 2) given by WORLD_SIZE");
  EXPECT_ERROR(detect({{"WORLD_SIZE", "0"}, {"RANK", "0"}}), ErrorCode::invalid_argument, "RANK");
  Variables variables = torchrun;
  variables["LOCAL_RANK"] = "4";
  EXPECT_ERROR(detect(variables), ErrorCode::invalid_argument, "LOCAL_RANK is 4");
  variables = torchrun;
  variables["LOCAL_WORLD_SIZE"] = "9";
  EXPECT_ERROR(detect(variables), ErrorCode::invalid_argument, "LOCAL_WORLD_SIZE is 9, more than");
}

TEST(World, KnowsItsLocalSizeWhereOneCanBeDerived) {
  EXPECT_EQ(detect({{"WORLD_SIZE", "1"}, {"RANK", "0"}}).local_size, 1);
  EXPECT_EQ(detect({{"WORLD_SIZE", "4"}, {"RANK", "0"}}).local_size, 0);
}

TEST(World, ReadsTheRealEnvironment) {
  ::setenv("PENSTOCK_WORLD_SIZE", "3", 1);
  ::setenv("PENSTOCK_RANK", "2", 1);
  const World world = World::detect();
  ::unsetenv("PENSTOCK_WORLD_SIZE");
  ::unsetenv("PENSTOCK_RANK");
  EXPECT_EQ(world, (World{.size = 3, .rank = 2}));
}

TEST(World, IsPrintedWithItsSource) {
  EXPECT_EQ(to_string(detect(torchrun)), "rank 5 of 8, local 1 of 4, node 1, restart 2 (torchrun)");
  EXPECT_EQ(to_string(World{}), "rank 0 of 1 (explicit)");
}

}  // namespace
}  // namespace penstock
