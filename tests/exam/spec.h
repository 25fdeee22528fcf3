// What a simulated host and its runs consist of, as plain data: times in nanoseconds, sizes in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/exam/device.h"
#include "tests/exam/distribution.h"
#include "tests/exam/events.h"

namespace penstock::exam {

// A number that changes at given times.
struct Schedule {
  struct Step {
    Time from;
    double value;
  };
  std::vector<Step> steps;  // in order of time

  double at(Time time, double otherwise) const {
    double value = otherwise;
    for (const Step& step : steps) {
      if (step.from > time) break;
      value = step.value;
    }
    return value;
  }
};

struct StageSpec {
  // Calls of a function; or, where the pipeline is a tree, the source of another branch, or what puts branches
  // together. A nest makes each element a dataset: times, bytes and all else are those of one of the dataset's
  // elements.
  enum class Role : std::uint8_t { calls, source, zip, sample, nest };
  enum class Form : std::uint8_t { computes, blocks, unknown };

  std::string name;
  Role role = Role::calls;
  std::vector<double> shares;  // of a sample, of each branch
  Form form = Form::computes;
  bool serial = false;
  bool ordered = true;
  Distribution blocked, cpu;                         // of one element
  Schedule blocked_times, cpu_times;                 // factors over time
  int device = -1;                                   // that it waits for while blocked
  double result_bytes = 100'000;                     // mean, of one result
  Distribution size;                                 // factor on the bytes, drawn here; zero: as the input's
  bool time_follows_size = false;                    // the factor counts for the times, too
  bool size_is_known = true;                         // before a call begins: of a file, by a header
  Distribution fan_out = Distribution::constant(1);  // results of one element; of a nest, how many its dataset has
  std::int64_t cycle_length = 0;                     // of a nest: datasets that give in turn
  std::int64_t batch = 1;                            // elements for one result: the last stage, a serial one
  int own_threads = 0;                               // that the user's function starts for each call and waits for
  Distribution own_cpu;                              // of each of these
};

// What no function is called in: the ends of branches. Serial, at no cost.
inline StageSpec of_tree(StageSpec::Role role, std::string name, std::vector<double> shares = {}) {
  StageSpec stage;
  stage.name = std::move(name);
  stage.role = role;
  stage.shares = std::move(shares);
  stage.serial = true;
  return stage;
}
inline StageSpec another_source() { return of_tree(StageSpec::Role::source, "numbers"); }
inline StageSpec zip_of_two() { return of_tree(StageSpec::Role::zip, "zip"); }
// Of a stage that tells what an element costs: each dataset has so many of these.
inline StageSpec nest_of(StageSpec element, Distribution elements, std::int64_t cycle_length) {
  element.role = StageSpec::Role::nest;
  element.fan_out = elements;
  element.cycle_length = cycle_length;
  return element;
}
inline StageSpec sample_of(std::vector<double> shares) {
  return of_tree(StageSpec::Role::sample, "sample", std::move(shares));
}

// Branches that it puts together, or goes on with.
inline std::size_t inputs_of(const StageSpec& stage) {
  switch (stage.role) {
    case StageSpec::Role::source: return 0;
    case StageSpec::Role::zip: return 2;
    case StageSpec::Role::sample: return stage.shares.size();
    case StageSpec::Role::nest:
    case StageSpec::Role::calls: break;
  }
  return 1;
}

inline bool is_nest(const StageSpec& stage) { return stage.role == StageSpec::Role::nest; }

// Takes `burst` elements, each with some work, then works and pauses.
struct ConsumerPhase {
  Time from = 0;
  std::int64_t burst = 1;
  double cpu_each = 1'000;   // for each element taken
  double cpu = 0, idle = 0;  // after each burst
};

// The one that holds at that time: the last that has begun.
inline const ConsumerPhase& phase_at(const std::vector<ConsumerPhase>& phases, Time time) {
  std::size_t last = 0;
  while (last + 1 < phases.size() && phases[last + 1].from <= time) ++last;
  return phases[last];
}

struct ChainSpec {
  // The first source comes by itself, as stage 0. Of a tree a branch after the other, each but the first one with its
  // source, then what puts the last ones together (zip: two).
  std::vector<StageSpec> stages;
  std::vector<DeviceSpec> devices;
  std::vector<ConsumerPhase> consumer = std::vector<ConsumerPhase>(1);
  std::int64_t memory = std::int64_t{1} << 30;
  std::int64_t open_io = 64;
  double weight = 1;      // of one of its elements beside those of other runs
  bool pictures = false;  // three stages that stand for reading, decoding and cropping a picture: a real run does that
};

struct HostSpec {
  double cores = 2;
  Schedule quota;                      // cores of our process
  Schedule foreign;                    // busy processes of others
  bool niceness_is_reversible = true;  // else the knob `priority` cannot be moved
};

struct ProcessSpec {
  HostSpec host;
  std::vector<ChainSpec> chains;
};

}  // namespace penstock::exam
