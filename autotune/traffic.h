// Traffic: what all of the pipeline is doing, as the tuners of single stages need it. One per tick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <penstock/snapshot.h>

#include "autotune/model.h"

namespace penstock::autotune {

inline constexpr double kHeadroom = 1.15;  // h: more than the consumer takes, so that a drained buffer fills again

struct Traffic {
  double wait_share = 0;           // omega: of the consumer's time, over the last moments
  double delivered = 0;            // elements/s that it took, likewise
  double demand = kUnbounded;      // lambda: elements/s that it would take if it never waited
  double cpu_share = 0;            // of the CPUs there are, in use
  double unattributed_cpu_s = 0;   // per element delivered: of threads that are neither penstock's nor the consumer's
  double cpus = 1;                 // that the stages may use: those of the process less the consumer's own
  double work_s = 0;               // on a CPU, of all stages for one element delivered; what is not known of them is 0
  double attainable = kUnbounded;  // X_T: elements/s to plan for, from all that is known of the stages
  bool all_known = false;          // of every stage
  // A pause: the consumer has asked for nothing for longer than is usual. What the stages do now says nothing;
  // wait_share, delivered and demand are those of before.
  bool idle = false;
  std::vector<double> visits;  // v by stage: elements of it per element delivered

  bool consumer_waits() const noexcept { return wait_share > 0.03; }
  bool consumer_is_served() const noexcept { return wait_share < 0.01; }
  bool cpu_bound() const noexcept { return cpu_share > 0.93; }
};

// Keeps the averages behind it.
class TrafficMeter {
 public:
  // All but `work_s`, `attainable` and `all_known`, since the last call, into one that is there already. `cpu_s` by
  // stage: CPU time of an element, 0 where it is not known.
  void read(const Snapshot& now, const std::vector<double>& cpu_s, Traffic& traffic);

 private:
  struct Part {  // numbers of elements, older ones fading
    double part = 0, whole = 0;
    void add(double kept, double more, double of);
  };
  struct Counts {                                            // of a stage
    Part results;                                            // of the elements that it has run
    Part share, share_of_late;                               // of what the merge that it feeds has taken
    std::int64_t completed = 0, made = 0, elements_out = 0;  // at the last call
  };
  struct LastSnapshot {  // of the last snapshot, what is needed of it: the whole is large
    std::int64_t time_ns = 0, process_cpu_ns = -1, workers_cpu_ns = -1, consumer_cpu_ns = -1;
    ConsumerSnapshot consumer;
  };
  void read_consumer(const Snapshot& now, double time, Traffic& traffic);
  void pause_or_go_on(bool active, double time);
  bool is_idle() const noexcept;
  void read_cpus(const Snapshot& now, const std::vector<double>& cpu_s, double time, Traffic& traffic);
  void read_process(const Snapshot& now, double time, Traffic& traffic);
  void read_visits(const Snapshot& now, double time, Traffic& traffic);
  void add_share(const Snapshot& now, double time, std::size_t stage);

  LastSnapshot last_;
  double wait_share_ = 1;
  double delivered_ = 0;
  double cpu_share_ = 0;
  double consumer_cpu_ = 0;
  double unattributed_cpu_ = 0;                      // cores
  double idle_s_ = 0;                                // for which the consumer has neither taken nor waited
  double usual_idle_s_ = 0;                          // the longest such time of late, fading
  double wait_share_then_ = 0, delivered_then_ = 0;  // when it began
  std::vector<double> rates_;
  std::vector<Ratios> ratios_;
  std::vector<bool> feed_merges_;
  std::vector<Counts> counts_;
};

}  // namespace penstock::autotune
