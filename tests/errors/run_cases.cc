// Runs that cannot be started or gone on with, and settings that cannot be read.
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "tests/errors/catalogue.h"

namespace penstock::errors {
namespace {

using Variables = std::map<std::string, std::string>;

std::function<void()> detect(const Variables& variables) {
  return [variables] {
    World::detect([&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  };
}

void ask_itself() {
  std::unique_ptr<Run<std::int64_t>> run;
  const auto data = range(3).map([&run](std::int64_t value) { return run->next().value_or(value); });
  run = std::make_unique<Run<std::int64_t>>(data.start());
  while (run->next()) {
  }
}

std::exception_ptr innermost(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ElementError& outer) {
    return innermost(outer.cause());
  } catch (...) {
    return error;
  }
}

// Its error without the 64 places that it came by.
void iterate_own_dataset() {
  std::optional<Dataset<std::int64_t>> data;
  data.emplace(range(3).map([&data](std::int64_t) { return *data->begin(); }));
  try {
    read(*data);
  } catch (...) {
    std::rethrow_exception(innermost(std::current_exception()));
  }
}

// The first consumer waits in next() for a function that waits for the second one.
void ask_in_two_threads() {
  std::promise<void> inside, go;
  auto run = range(1)
                 .map(
                     [&](std::int64_t x) {
                       inside.set_value();
                       go.get_future().wait();
                       return x;
                     },
                     {.parallelism = 1, .blocks = true})
                 .start({.serial = true});
  std::jthread first([&] { run.next(); });
  inside.get_future().wait();
  try {
    run.next();
  } catch (...) {
    go.set_value();
    throw;
  }
}

}  // namespace

Cases run_cases() {
  const std::string tasks = "SLURM_STEP_TASKS_PER_NODE";
  const Variables slurm{{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "1"}, {"SLURM_NODEID", "1"}};
  const auto with = [&](const std::string& list) {
    Variables all = slurm;
    all[tasks] = list;
    return detect(all);
  };
  return {
      {"a run with -1 threads", [] { read(range(3), {.threads = -1}); }},
      {"a run with no blocking calls", [] { read(range(3), {.open_io = 0}); }},
      {"a run that skips -2 errors", [] { read(range(3), {.on_error = skip_up_to(-2)}); }},
      {"a run of a dataset that was moved from",
       [] {
         auto data = range(3);
         const auto moved = std::move(data);
         read(data);  // NOLINT(bugprone-use-after-move): on purpose
       }},
      {"a run that was moved from",
       [] {
         auto run = range(3).start();
         const auto moved = std::move(run);
         run.next();  // NOLINT(bugprone-use-after-move): on purpose
       }},
      {"a run whose trace cannot be written", [] { range(3).start({.trace = "no/such/folder/trace.json"}); }},
      {"next() inside a function of the same run", ask_itself},
      {"next() while another thread is in it", ask_in_two_threads},
      {"a function that iterates the dataset it belongs to", iterate_own_dataset},
      {"World: a size without a rank", detect({{"WORLD_SIZE", "2"}})},
      {"World: a rank without a size", detect({{"OMPI_COMM_WORLD_RANK", "1"}})},
      {"World: a rank that is no number", detect({{"WORLD_SIZE", "2"}, {"RANK", "first"}})},
      {"World: a rank outside its size", detect({{"WORLD_SIZE", "2"}, {"RANK", "2"}})},
      {"World: more processes here than in all",
       detect({{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"LOCAL_WORLD_SIZE", "3"}})},
      {"World: Slurm's list of tasks is none", with("many")},
      {"World: Slurm's list of tasks is too short", with("4")},
  };
}

}  // namespace penstock::errors
