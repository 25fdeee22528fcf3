// RunRecord: what was seen of one run, in virtual time or of a real one. Grades are made of it and of nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/exam/events.h"

namespace penstock::exam {

// What was seen of a run, every 10 ms.
struct Sample {
  Time time;
  std::int64_t taken;
  std::int64_t calls;       // most under way since the sample before, of stages that are not serial
  std::int64_t pool_calls;  // of these, such that wait
  std::int64_t bytes;       // at that moment
  std::int64_t prefetch;
  double cpu_ns;         // of the process since the start, without the consumer
  std::int64_t changes;  // of knobs since the start
};

// Of the consumer.
struct ConsumerStep {
  Time end;
  Time time;  // without what it waited for elements
};

// Of each stage so far, by the samples that the controller sees.
struct Measured {
  Time time;
  std::vector<std::int64_t> cpu_ns, elements;
};

struct RunRecord {
  std::vector<Sample> samples;  // the first one at 10 ms; at least one
  std::vector<ConsumerStep> steps;
  std::vector<Measured> measured;  // every second; none of a real run
  // of a consumer that has the machine to itself, the 95th percentile; 0: as long as its phase says
  double step_alone_ns = 0;
  std::int64_t memory_peak = 0;
  std::int64_t memory_bound = 0;  // what it may never pass: the limit and one element of each stage
  std::int64_t open_io = 0;
};

}  // namespace penstock::exam
