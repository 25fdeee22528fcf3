// The oracle's answers that are known already.
#include <cstdio>
#include <cstring>

#include "tests/exam/oracle.h"

namespace penstock::exam {
namespace {

struct Row {
  std::uint64_t hash;
  Optimum optimum;
};

const std::vector<Row>& table() {
  static const std::vector<Row> rows = {
#include "tests/exam/oracle_table.inc"
  };
  return rows;
}

const Row* find(const ProcessSpec& frozen) {
  const std::uint64_t hash = hash_of(frozen);
  for (const Row& row : table()) {
    if (row.hash == hash) return &row;
  }
  return nullptr;
}

constexpr int kHostVersion = 2;  // to be raised where the simulated host itself changes what comes out

// FNV-1a over numbers.
class Hash {
 public:
  template <class... Values> void add(Values... values) { (add_one(static_cast<double>(values)), ...); }
  void add(const Distribution& of) { add(static_cast<int>(of.kind), of.mean, of.cv, of.a, of.b, of.c); }
  void add(const Schedule& of) {
    add(of.steps.size());
    for (const auto& step : of.steps) add(step.from, step.value);
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  // To nine digits: the last ones depend on the machine's mathematics.
  void add_one(double number) {
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%.9g;", number);
    for (int i = 0; i < length; ++i) value_ = (value_ ^ static_cast<unsigned char>(text[i])) * 0x100000001b3;
  }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

void add(Hash& hash, const StageSpec& stage) {
  hash.add(static_cast<int>(stage.form), stage.serial, stage.ordered, stage.device, stage.result_bytes,
           stage.time_follows_size, stage.size_is_known, stage.batch, stage.own_threads);
  for (const Distribution* each : {&stage.blocked, &stage.cpu, &stage.size, &stage.fan_out, &stage.own_cpu})
    hash.add(*each);
  hash.add(stage.blocked_times);
  hash.add(stage.cpu_times);
  if (stage.role == StageSpec::Role::calls) return;
  hash.add(static_cast<int>(stage.role));
  for (const double share : stage.shares) hash.add(share);
  if (is_nest(stage)) hash.add(stage.cycle_length);
}

void add(Hash& hash, const ChainSpec& chain) {
  hash.add(chain.memory, chain.open_io, chain.stages.size(), chain.devices.size());
  for (const StageSpec& stage : chain.stages) add(hash, stage);
  for (const DeviceSpec& device : chain.devices) {
    hash.add(device.slots, device.rates.size());
    for (const double rate : device.rates) hash.add(rate);
  }
  if (chain.weight != 1) hash.add(chain.weight);
  for (const ConsumerPhase& phase : chain.consumer)
    hash.add(phase.from, phase.burst, phase.cpu_each, phase.cpu, phase.idle);
}

}  // namespace

std::uint64_t hash_of(const ProcessSpec& process) {
  Hash hash;
  hash.add(kHostVersion, process.host.cores);
  hash.add(process.host.quota);
  hash.add(process.host.foreign);
  if (!process.host.niceness_is_reversible) hash.add(0);
  for (const ChainSpec& chain : process.chains) add(hash, chain);
  return hash.value();
}

bool is_in_table(const ProcessSpec& frozen) { return find(frozen) != nullptr; }

Optimum optimum_of(const ProcessSpec& frozen) {
  const Row* row = find(frozen);
  return row != nullptr ? row->optimum : search(frozen);
}

std::string table_row(const ProcessSpec& frozen, const Optimum& optimum, const std::string& comment) {
  char text[160];
  std::snprintf(text, sizeof text, "{0x%016llx, {%.6g, %.6g, %.6g, {", static_cast<unsigned long long>(hash_of(frozen)),
                optimum.rate, optimum.peak_bytes, optimum.cpu_s);
  std::string row = text;
  for (const Setting& each : optimum.settings) {
    row += "{\"" + each.knob + "\", " + std::to_string(each.stage) + ", " + std::to_string(each.value) +
           (each.chain == 0 ? "" : ", " + std::to_string(each.chain)) + "}, ";
  }
  if (row.ends_with(", ")) row.resize(row.size() - 2);
  return row + "}}},  // " + comment + "\n";
}

}  // namespace penstock::exam
