#include "tests/exam/oracle_settings.h"

#include <algorithm>
#include <utility>

namespace penstock::exam {
namespace {

constexpr double kTiny = 100'000;  // ns: elements that are grouped
const std::vector<std::int64_t> kCalls = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};

// Both of a pair multiplied out.
std::vector<Settings> combined(const std::vector<Settings>& some, const std::vector<Settings>& others) {
  std::vector<Settings> all;
  for (const Settings& one : some) {
    for (const Settings& other : others) {
      all.push_back(one);
      all.back().insert(all.back().end(), other.begin(), other.end());
    }
  }
  return all;
}

bool is_source(const ChainSpec& chain, std::size_t index) {
  return chain.stages[index].role == StageSpec::Role::source;
}

// Each of them once: what differs in the window alone is the same.
std::vector<Settings> without_window(std::vector<Settings> all) {
  for (Settings& settings : all) std::erase_if(settings, [](const Setting& each) { return each.knob == "window"; });
  const auto same = [](const Settings& one, const Settings& other) {
    return std::ranges::equal(one, other, {}, &Setting::value, &Setting::value);
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

bool has_tiny_elements(const ChainSpec& chain) {
  return std::ranges::any_of(chain.stages, [](const StageSpec& stage) {
    return stage.cpu.mean + stage.blocked.mean < kTiny && !stage.serial;
  });
}

// Window and placement do not matter where elements are grouped: what may wait follows the grain.
std::vector<Settings> of_tiny_stages(const ChainSpec& chain, std::int64_t permits) {
  std::vector<Settings> all = {{}};
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    if (chain.stages[i].serial) continue;
    std::vector<Settings> own;
    for (std::int64_t calls = 1; calls <= permits + 2; ++calls)
      own.push_back({{"parallelism", static_cast<int>(i) + 1, calls}});
    all = combined(all, own);
  }
  std::vector<Settings> grains;
  for (const std::int64_t grain : {2'000, 20'000, 100'000, 500'000}) {
    grains.emplace_back();
    for (std::size_t i = 0; i <= chain.stages.size(); ++i)
      grains.back().push_back({"grain_ns", static_cast<int>(i), grain});
  }
  return combined(all, grains);
}

void add_computing(std::vector<Settings>& all, const StageSpec& stage, int index, std::int64_t permits) {
  for (std::int64_t calls = 1; calls <= permits + 2; ++calls) {
    if (calls > 4 && calls < permits) continue;
    for (const std::int64_t window : {2 * calls, 4 * permits, 32 * permits}) {
      all.push_back({{"parallelism", index, calls}, {"window", index, window}});
      if (stage.form == StageSpec::Form::unknown) all.back().push_back({"placement", index, 0});
    }
  }
}

void add_waiting(std::vector<Settings>& all, const StageSpec& stage, int index, std::int64_t open_io) {
  for (const std::int64_t calls : kCalls) {
    if (calls > open_io) continue;
    for (const std::int64_t times : {1, 2, 4, 16}) {
      if (!stage.ordered && times > 2) continue;
      all.push_back({{"parallelism", index, calls}, {"window", index, times * calls}});
      if (stage.form == StageSpec::Form::unknown) all.back().push_back({"placement", index, 1});
    }
  }
}

std::vector<Settings> of_stage(const StageSpec& stage, int index, std::int64_t permits, std::int64_t open_io) {
  std::vector<Settings> all;
  if (stage.serial) return {{}};
  if (stage.form != StageSpec::Form::blocks) add_computing(all, stage, index, permits);
  if (stage.form != StageSpec::Form::computes) add_waiting(all, stage, index, open_io);
  return has_window(stage) ? all : without_window(std::move(all));
}

}  // namespace

bool has_window(const StageSpec& stage) { return !stage.serial && !is_nest(stage); }

std::vector<Settings> all_settings(const ChainSpec& chain, std::int64_t permits) {
  std::vector<Settings> all = {{}};
  const bool tiny = has_tiny_elements(chain);
  if (tiny) all = of_tiny_stages(chain, permits);
  for (std::size_t i = 0; i < chain.stages.size() && !tiny; ++i) {
    all = combined(all, of_stage(chain.stages[i], static_cast<int>(i) + 1, permits, chain.open_io));
  }
  std::vector<Settings> depths;
  for (const std::int64_t depth : {1, 2, 8, 32, 128}) depths.push_back({{"prefetch", -1, depth}});
  return combined(all, depths);
}

std::vector<Choice> all_choices(const ChainSpec& chain, std::int64_t permits) {
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    const StageSpec& stage = chain.stages[i];
    const int index = static_cast<int>(i) + 1;
    if (stage.serial) continue;
    std::vector<std::int64_t> calls;
    for (const std::int64_t each : kCalls) {
      const std::int64_t most = stage.form == StageSpec::Form::computes ? permits + 2 : chain.open_io;
      if (each <= most) calls.push_back(each);
    }
    if (stage.form == StageSpec::Form::unknown) choices.push_back({"placement", index, {0, 1}});
    choices.push_back({"parallelism", index, calls});
    if (has_window(stage)) choices.push_back({"window", index, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}});
  }
  choices.push_back({"prefetch", -1, {1, 2, 4, 8, 32, 128}});
  for (Choice& choice : further_choices(chain, permits)) choices.push_back(std::move(choice));
  return choices;
}

std::vector<Choice> further_choices(const ChainSpec& chain, std::int64_t permits) {
  std::vector<Choice> choices = {{"priority", -1, {0, 1}}};
  std::vector<std::int64_t> some;
  for (std::int64_t each = 1; each <= permits; each = each < 4 ? each + 1 : 2 * each) some.push_back(each);
  choices.push_back({"cpu_slots", -1, some});
  for (std::size_t i = 0; i < chain.stages.size(); ++i) {
    if (!is_source(chain, i)) choices.push_back({"buffer", static_cast<int>(i) + 1, {1, 2, 8, 32}});
  }
  if (!has_tiny_elements(chain)) return choices;
  for (std::size_t i = 0; i <= chain.stages.size(); ++i)
    choices.push_back({"grain_ns", static_cast<int>(i), {2'000, 20'000, 100'000, 500'000}});
  return choices;
}

std::vector<Settings> small_moves(const ChainSpec& chain, std::int64_t permits) {
  std::vector<Settings> moves;
  for (const Choice& choice : all_choices(chain, permits)) {
    for (const std::int64_t value : choice.values) moves.push_back({{choice.knob, choice.stage, value, 0}});
  }
  for (int stage = 1; stage < static_cast<int>(chain.stages.size()); ++stage) {
    const auto next = static_cast<std::size_t>(stage);
    if (is_source(chain, next) || is_nest(chain.stages[next - 1])) continue;
    for (const std::int64_t window : {8, 16, 24, 32, 48, 64, 96}) {
      for (const std::int64_t buffer : {8, 16, 32})
        moves.push_back({{"window", stage, window, 0}, {"buffer", stage + 1, buffer, 0}});
    }
  }
  return moves;
}

bool are_allowed(const Settings& settings, const ProcessSpec& process) {
  const auto value = [&](const char* knob, int chain, int stage, std::int64_t otherwise) {
    const auto found = std::ranges::find_if(
        settings, [&](const Setting& each) { return each.knob == knob && each.chain == chain && each.stage == stage; });
    return found == settings.end() ? otherwise : found->value;
  };
  for (std::size_t i = 0; i < process.chains.size(); ++i) {
    const ChainSpec& chain = process.chains[i];
    std::int64_t open = 0;
    for (std::size_t j = 0; j < chain.stages.size(); ++j) {
      const int stage = static_cast<int>(j) + 1;
      const bool blocks = chain.stages[j].form == StageSpec::Form::blocks;
      if (blocks || value("placement", static_cast<int>(i), stage, 0) == 1)
        open += value("parallelism", static_cast<int>(i), stage, 4);
    }
    if (open > chain.open_io) return false;
  }
  return true;
}

Settings with(const Settings& settings, const Setting& other) {
  Settings result = settings;
  const auto found = std::ranges::find_if(result, [&](const Setting& each) {
    return each.knob == other.knob && each.stage == other.stage && each.chain == other.chain;
  });
  if (found == result.end()) {
    result.push_back(other);
  } else {
    *found = other;
  }
  return result;
}

}  // namespace penstock::exam
