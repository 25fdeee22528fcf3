#include "lib/runtime/tuning_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include <penstock/error.h>

#include "lib/base/text.h"
#include "lib/core/crc32.h"

namespace penstock::runtime {
namespace {

constexpr std::string_view kFirstLine = "penstock tuning 1";
constexpr std::size_t kLongest = 1 << 20;  // bytes: some thousand stages
// What a controller finds out. The others are budgets, and what follows from the machine's present load.
constexpr std::array<std::string_view, 5> kKept = {"placement", "parallelism", "window", "buffer", "prefetch"};

// The text up to the separator, which is taken away as well.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool parse(std::string_view text, std::int64_t& number) {
  const auto parsed = parse_integer(text);
  number = parsed.value_or(0);
  return parsed.has_value();
}

bool parse_fingerprint(std::string_view line, Fingerprint& print) {
  return parse(take_until(line, ' '), print.crc) && parse(line, print.size);
}

bool parse_knob(std::string_view line, Tuning& tuning) {
  autotune::KnobValue knob;
  std::int64_t stage = 0;
  if (!parse(take_until(line, ' '), stage) || stage < -1 || stage > std::numeric_limits<int>::max()) return false;
  knob.stage = static_cast<int>(stage);
  knob.knob = take_until(line, ' ');
  if (std::ranges::find(kKept, knob.knob) == kKept.end() || !parse(line, knob.value)) return false;
  tuning.knobs.push_back(std::move(knob));
  return true;
}

bool parse_line(std::string_view line, Tuning& tuning) {
  const std::string_view kind = take_until(line, ' ');
  if (kind == "cpus") return parse(line, tuning.cpus);
  if (kind == "machine") return parse_fingerprint(line, tuning.machine);
  if (kind == "pipeline") return parse_fingerprint(line, tuning.pipeline);
  return kind == "knob" && parse_knob(line, tuning);
}

Fingerprint fingerprint_of(std::string_view text) { return {crc32(text), static_cast<std::int64_t>(text.size())}; }

std::string to_text(const char* name, const Fingerprint& print) {
  return std::string(name) + " " + std::to_string(print.crc) + " " + std::to_string(print.size) + "\n";
}

void tell(const char* what, const std::string& path, const std::string& why) {
  std::fprintf(stderr, "penstock: RunOptions::warm_start: %s %s: %s. The run is not affected\n", what,
               in_quotes(path).c_str(), why.c_str());
}

bool is_folder(const io::FileSystem& files, const std::string& path) {
  const auto [status, error] = files.status(path);
  return error == 0 && status.kind == io::FileKind::folder;
}

// Its first bytes, so many at most. Where it cannot be read it ends: what is not whole is not used.
std::string beginning_of(io::File& file, std::size_t most) {
  std::string text(most, '\0');
  std::size_t length = 0;
  while (length < most) {
    const auto [count, error] = file.read(std::as_writable_bytes(std::span(text)).subspan(length));
    if (error == EINTR) continue;
    if (count == 0) break;
    length += count;
  }
  text.resize(length);
  return text;
}

}  // namespace

std::optional<Tuning> parse_tuning(std::string_view text) {
  if (text.size() > kLongest || take_until(text, '\n') != kFirstLine) return std::nullopt;
  Tuning tuning;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (line == "end") return tuning;
    if (!parse_line(line, tuning)) return std::nullopt;
  }
  return std::nullopt;
}

std::string to_text(const Tuning& tuning) {
  std::string text = std::string(kFirstLine) + "\ncpus " + std::to_string(tuning.cpus) + "\n";
  text += to_text("machine", tuning.machine) + to_text("pipeline", tuning.pipeline);
  for (const auto& each : tuning.knobs) {
    text += "knob " + std::to_string(each.stage) + " " + each.knob + " " + std::to_string(each.value) + "\n";
  }
  return text + "end\n";
}

TuningFile::TuningFile(std::string path, std::string_view pipeline, std::string_view machine, io::FileSystemRef files)
    : path_(std::move(path)), files_(std::move(files)) {
  run_.pipeline = fingerprint_of(pipeline);
  run_.machine = fingerprint_of(machine);
  const auto folder = std::filesystem::path(path_).parent_path();
  has_folder_ = folder.empty() || is_folder(*files_, folder.string());
  if (!has_folder_) tell("cannot write", path_, "there is no folder " + in_quotes(folder.string()));
}

std::vector<autotune::KnobValue> TuningFile::read(std::int64_t cpus) {
  run_.cpus = cpus;
  const auto [file, error] = files_->open(path_);
  if (error != 0) return {};
  auto tuning = parse_tuning(beginning_of(*file, kLongest + 1));
  if (!tuning) {
    tell("cannot use", path_, "it is not a whole file of this kind");
    return {};
  }
  const bool is_ours = tuning->cpus == cpus && tuning->machine == run_.machine && tuning->pipeline == run_.pipeline;
  return is_ours ? std::move(tuning->knobs) : std::vector<autotune::KnobValue>();
}

void TuningFile::write(const std::vector<Knob>& knobs) const {
  if (!has_folder_) return;  // as was told
  Tuning tuning = run_;
  for (const Knob& knob : knobs) {
    const bool is_kept = std::ranges::find(kKept, knob.name) != kKept.end() && !knob.user_fixed;
    if (is_kept) tuning.knobs.push_back({knob.stage, knob.name, knob.get()});
  }
  // In one step: several runs may end at once, and others begin.
  const std::string text = to_text(tuning);
  const int error = files_->replace(path_, std::as_bytes(std::span(text)));
  if (error != 0) tell("cannot write", path_, std::generic_category().message(error));
}

}  // namespace penstock::runtime
