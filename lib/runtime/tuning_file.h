// TuningFile: where the knobs of a pipeline stood when a run of it ended, for the next one to begin there.
//
//   penstock tuning 1
//   cpus 2
//   machine 2271560481 31            CRC-32 and length of its text: machine_text.h
//   pipeline 3735928559 412          the same of the pipeline's: Plan::work_text
//   knob 1 parallelism 32
//   knob -1 prefetch 8
//   end
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/knob.h>

#include "autotune/policy.h"
#include "ops/io/file_system.h"

namespace penstock::runtime {

struct Fingerprint {
  std::int64_t crc = 0, size = 0;

  bool operator==(const Fingerprint&) const = default;
};

struct Tuning {
  std::int64_t cpus = 0;
  Fingerprint machine, pipeline;
  std::vector<autotune::KnobValue> knobs;
};

// nullopt: not such a text, or not whole.
std::optional<Tuning> parse_tuning(std::string_view text);
std::string to_text(const Tuning& tuning);

class TuningFile {
 public:
  // Where there is no folder for it that is told on stderr, now rather than at the run's end, and nothing is written.
  TuningFile(std::string path, std::string_view pipeline, std::string_view machine,
             io::FileSystemRef files = io::local_file_system());

  // For a run on so many CPUs. Empty where there is no file, or one of another pipeline, machine or number of CPUs. One
  // that is no such file is told on stderr.
  std::vector<autotune::KnobValue> read(std::int64_t cpus);
  // Replaces the file in one step. What fails is told on stderr.
  void write(const std::vector<Knob>& knobs) const;

 private:
  std::string path_;
  io::FileSystemRef files_;
  bool has_folder_ = true;
  Tuning run_;  // without its knobs
};

}  // namespace penstock::runtime
