#include <penstock/error.h>
#include <penstock/world.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

#include "lib/base/fail_argument.h"
#include "lib/base/text.h"

namespace penstock {
namespace {

// The variable of that meaning, and one that is looked at if the first is not set; null where there
// is none.
struct Names {
  const char* first = nullptr;
  const char* second = nullptr;
};

struct Launcher {
  const char* name;
  const char* marker = nullptr;  // it is there if this is set; without a marker, if size or rank is
  Names size = {};
  Names rank = {};
  Names local_size = {};
  Names local_rank = {};
  Names node = {};
  Names restart = {};
  const char* tasks_per_node = nullptr;  // Slurm's list, from which the local size follows
};

constexpr std::array<Launcher, 8> launchers{{
    {.name = "explicit",
     .size = {"PENSTOCK_WORLD_SIZE"},
     .rank = {"PENSTOCK_RANK"},
     .local_size = {"PENSTOCK_LOCAL_SIZE"},
     .local_rank = {"PENSTOCK_LOCAL_RANK"}},
    {.name = "torchrun",
     .marker = "TORCHELASTIC_RUN_ID",
     .size = {"WORLD_SIZE"},
     .rank = {"RANK"},
     .local_size = {"LOCAL_WORLD_SIZE"},
     .local_rank = {"LOCAL_RANK"},
     .node = {"GROUP_RANK"},
     .restart = {"TORCHELASTIC_RESTART_COUNT"}},
    {.name = "Horovod",
     .size = {"HOROVOD_SIZE"},
     .rank = {"HOROVOD_RANK"},
     .local_size = {"HOROVOD_LOCAL_SIZE"},
     .local_rank = {"HOROVOD_LOCAL_RANK"},
     .node = {"HOROVOD_CROSS_RANK"}},
    {.name = "Open MPI",
     .size = {"OMPI_COMM_WORLD_SIZE"},
     .rank = {"OMPI_COMM_WORLD_RANK"},
     .local_size = {"OMPI_COMM_WORLD_LOCAL_SIZE"},
     .local_rank = {"OMPI_COMM_WORLD_LOCAL_RANK"}},
    {.name = "MVAPICH",
     .size = {"MV2_COMM_WORLD_SIZE"},
     .rank = {"MV2_COMM_WORLD_RANK"},
     .local_size = {"MV2_COMM_WORLD_LOCAL_SIZE"},
     .local_rank = {"MV2_COMM_WORLD_LOCAL_RANK"}},
    {.name = "PMI",
     .size = {"PMI_SIZE"},
     .rank = {"PMI_RANK"},
     .local_size = {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"},
     .local_rank = {"MPI_LOCALRANKID", "PMI_LOCAL_RANK"}},
    {.name = "Slurm",
     .marker = "SLURM_STEP_ID",
     .size = {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
     .rank = {"SLURM_PROCID"},
     .local_rank = {"SLURM_LOCALID"},
     .node = {"SLURM_NODEID"},
     .tasks_per_node = "SLURM_STEP_TASKS_PER_NODE"},
    {.name = "generic",
     .size = {"WORLD_SIZE"},
     .rank = {"RANK"},
     .local_size = {"LOCAL_WORLD_SIZE"},
     .local_rank = {"LOCAL_RANK"}},
}};

// What one variable says.
struct Value {
  const char* name;
  int number;
};

[[noreturn]] void fail_value(const char* name, std::string_view text, const char* wanted) {
  fail_argument(std::string(name) + " is '" + std::string(text) + "', which is not " + wanted);
}

std::optional<int> to_count(std::string_view text) {
  const auto number = parse_integer(text);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<Value> read_one(const World::Environment& environment, const char* name) {
  const char* const text = name == nullptr ? nullptr : environment(name);
  if (text == nullptr) return std::nullopt;
  const auto number = to_count(text);
  if (!number) fail_value(name, text, "a whole number");
  return Value{name, *number};
}

std::optional<Value> read(const World::Environment& environment, const Names& names) {
  const auto value = read_one(environment, names.first);
  return value ? value : read_one(environment, names.second);
}

bool is_set(const World::Environment& environment, const Names& names) {
  for (const char* name : {names.first, names.second})
    if (name != nullptr && environment(name) != nullptr) return true;
  return false;
}

bool is_there(const World::Environment& environment, const Launcher& launcher) {
  if (launcher.marker != nullptr) return environment(launcher.marker) != nullptr;
  return is_set(environment, launcher.size) || is_set(environment, launcher.rank);
}

Value require(const World::Environment& environment, const Launcher& launcher, const Names& names) {
  const auto value = read(environment, names);
  if (!value)
    fail_argument(std::string(names.first) + " is not set, but the rest of " + launcher.name +
                  "'s variables are there: cannot tell how many processes run; set it, or build the World by hand");
  return *value;
}

void check_inside(const Value& rank, const Value& size) {
  if (rank.number < size.number) return;
  fail_argument(std::string(rank.name) + " is " + std::to_string(rank.number) + ", outside [0, " +
                std::to_string(size.number) + ") given by " + size.name);
}

// Slurm's "4(x2),3" says 4 tasks on nodes 0 and 1, and 3 on node 2.
int tasks_on_node(const char* name, const std::string_view list, int node) {
  std::int64_t first = 0;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const std::size_t times = entry.find("(x");
    const bool repeated = times != std::string_view::npos && entry.back() == ')';
    const auto tasks = to_count(entry.substr(0, repeated ? times : entry.size()));
    const auto nodes = repeated ? to_count(entry.substr(times + 2, entry.size() - times - 3)) : 1;
    if (!tasks || !nodes) fail_value(name, list, "a list such as '4(x2),3'");
    first += *nodes;
    if (node < first) return *tasks;
  }
  fail_value(name, list, "a list with an entry for this node");
}

std::optional<Value> read_local_size(const World::Environment& environment, const Launcher& launcher,
                                     const std::optional<Value>& node) {
  const auto value = read(environment, launcher.local_size);
  const char* const name = launcher.tasks_per_node;
  const char* const list = name == nullptr ? nullptr : environment(name);
  if (value || list == nullptr || !node) return value;
  return Value{name, tasks_on_node(name, list, node->number)};
}

void check_local(const Value& local_size, const Value& size) {
  if (local_size.number <= size.number) return;
  fail_argument(std::string(local_size.name) + " is " + std::to_string(local_size.number) + ", more than " + size.name +
                ", which is " + std::to_string(size.number));
}

void set_local(World& world, const std::optional<Value>& size, const std::optional<Value>& rank) {
  if (size && rank) check_inside(*rank, *size);
  if (size) world.local_size = size->number;
  if (size && rank) world.local_rank = rank->number;
  if (!size && world.size == 1) world.local_size = 1;
}

World read_world(const World::Environment& environment, const Launcher& launcher) {
  const Value size = require(environment, launcher, launcher.size);
  const Value rank = require(environment, launcher, launcher.rank);
  check_inside(rank, size);
  const auto node = read(environment, launcher.node);
  const auto restart = read(environment, launcher.restart);
  World world{.size = size.number, .rank = rank.number, .source = launcher.name};
  const auto local_size = read_local_size(environment, launcher, node);
  if (local_size) check_local(*local_size, size);
  set_local(world, local_size, read(environment, launcher.local_rank));
  if (node) world.node = node->number;
  if (restart) world.restart = restart->number;
  return world;
}

}  // namespace

World World::detect() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the header says when not to call it
  return detect([](const char* name) -> const char* { return std::getenv(name); });
}

World World::detect(const Environment& environment) {
  for (const Launcher& launcher : launchers)
    if (is_there(environment, launcher)) return read_world(environment, launcher);
  return World{.local_size = 1, .source = "none"};
}

std::string to_string(const World& world) {
  std::string text = "rank " + std::to_string(world.rank) + " of " + std::to_string(world.size);
  if (world.local_size > 0)
    text += ", local " + std::to_string(world.local_rank) + " of " + std::to_string(world.local_size);
  if (world.node >= 0) text += ", node " + std::to_string(world.node);
  if (world.restart > 0) text += ", restart " + std::to_string(world.restart);
  return text + " (" + world.source + ")";
}

}  // namespace penstock
