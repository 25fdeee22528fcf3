// Ablation: what really keeps a world from a higher rate, found by doubling each resource in turn.
#pragma once

#include <string>
#include <vector>

#include "tests/exam/oracle.h"

namespace penstock::exam {

struct Resource {
  enum class Kind : std::uint8_t {
    cpu,
    consumer,
    memory,
    stage
  };  // stage: its device or lock, its threads, its open datasets, or that it is serial
  Kind kind = Kind::cpu;
  int stage = -1;

  bool operator==(const Resource&) const = default;
};

// Those that help when there is twice as much of them, the one that helps most first. None: nothing helps by 5 % or
// more.
std::vector<Resource> bottlenecks(const ProcessSpec& frozen, const Optimum& optimum);

// "stage 2, memory"
std::string text_of(const std::vector<Resource>& resources);

}  // namespace penstock::exam
