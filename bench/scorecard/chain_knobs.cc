// Chain: its knobs, with the names and bounds of the engine's (lib/exec/engine_knobs.cc).
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bench/scorecard/chain.h"
#include "bench/scorecard/plant.h"

namespace penstock::scorecard {
namespace {

constexpr std::int64_t kMany = 4096;

template <class Get, class Set>
Knob make_knob(std::string name, int stage, std::int64_t low, std::int64_t high, std::int64_t& changes, Get get, Set set) {
  Knob knob;
  knob.name = std::move(name);
  knob.stage = stage;
  knob.low = low;
  knob.high = high;
  knob.get = get;
  knob.set = [low, high, get, set, &changes](std::int64_t to) {
    to = std::clamp(to, low, high);
    changes += to != get();
    set(to);
  };
  return knob;
}

}  // namespace

void Chain::make_knobs() {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage* stage = stages_[i].get();
    const int index = static_cast<int>(i);
    const auto add = [&](const char* name, std::int64_t low, std::int64_t high, auto get, auto set) {
      knobs_.push_back(make_knob(name, index, low, high, changes_, get, set));
    };
    if (!stage->spec().serial) {
      add("parallelism", 1, kMany, [stage] { return stage->parallelism(); }, [stage](std::int64_t to) { stage->set_parallelism(to); });
      add("placement", 0, 1, [stage] { return std::int64_t{stage->on_pool()}; }, [stage](std::int64_t to) { stage->set_on_pool(to > 0); });
      knobs_.back().user_fixed = stage->spec().form != StageSpec::Form::unknown;
    }
    add("window", 1, kMany, [stage] { return stage->window(); }, [stage](std::int64_t to) { stage->set_window(to); });
    if (i > 0) add("buffer", 1, kMany, [stage] { return stage->buffer(); }, [stage](std::int64_t to) { stage->set_buffer(to); });
    add("grain_ns", 1, 10'000'000, [stage] { return stage->grain(); }, [stage](std::int64_t to) { stage->set_grain(to); });
  }
  knobs_.push_back(make_knob("prefetch", -1, 1, kMany, changes_, [this] { return outlet_.depth(); }, [this](std::int64_t to) {
    outlet_.set_depth(to, now());
    stages_.back()->add_credits(outlet_.top_up_all());
  }));
  knobs_.push_back(make_knob("memory", -1, 1, std::numeric_limits<std::int64_t>::max(), changes_, [this] { return memory_.limit; },
                             [this](std::int64_t to) { memory_.limit = to; }));
  knobs_.push_back(make_knob("cpu_slots", -1, 1, plant_.arena().slots(), changes_, [this] { return at_arena_.most; },
                             [this](std::int64_t to) { plant_.arena().set_most(at_arena_, to); }));
  knobs_.push_back(make_knob("priority", -1, 0, plant_.niceness_is_reversible(), changes_, [this] { return std::int64_t{gives_way_}; }, [this](std::int64_t to) {
    gives_way_ = to > 0;
    plant_.look_at_priorities();
  }));
}

Knob& Chain::knob(const std::string& name, int stage) {
  const auto found = std::ranges::find_if(knobs_, [&](const Knob& knob) { return knob.name == name && knob.stage == stage; });
  if (found == knobs_.end()) throw std::invalid_argument("no knob " + name + " of stage " + std::to_string(stage));
  return *found;
}

}  // namespace penstock::scorecard
