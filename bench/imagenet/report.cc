#include "bench/imagenet/report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/imagenet/option_values.h"
#include "bench/meter.h"
#include "lib/base/text.h"
#include "lib/core/cpu_budget.h"
#include "lib/core/print.h"
#include "lib/core/version.h"

namespace penstock::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t value) { return print("%016llx", static_cast<unsigned long long>(value)); }

// How many pictures our own decoder left to libjpeg-turbo, by the reason.
Json refused_of(const Measurement& m) {
  Json line = Json::object();
  for (std::size_t i = 0; i < m.refused.size(); ++i)
    if (m.refused[i] > 0) line[std::string(to_string(static_cast<image::Refusal>(i)))] = m.refused[i];
  return line;
}

std::string decoders_text(const Measurement& m) {
  const Json refused = refused_of(m);
  std::string reasons;
  for (const auto& [reason, count] : refused.items())
    reasons += (reasons.empty() ? ": " : ", ") + reason + " " + std::to_string(count.get<std::int64_t>());
  return print("decoded %lld by the own decoder, %lld by libjpeg-turbo", static_cast<long long>(m.decoded_own),
               static_cast<long long>(m.decoded - m.decoded_own)) +
         reasons + "\n";
}

Json json_of(const ImagenetOptions& options, const Files& files, const Measurement& m, const std::string& digest) {
  Json line = {
      {"program", "penstock-imagenet"},
      {"workload", to_string(options.workload)},
      {"images", m.images},
      {"samples", m.samples},
      {"batches", m.batches},
      {"wall_s", m.wall_s},
      {"cpu_s", m.cpu_s},
      {"images_per_s", m.images_per_s()},
      {"wait_share", m.wait_share},
      {"ttfb_s", m.ttfb_s},
      {"peak_rss_bytes", m.peak_rss_bytes},
      {"errors", m.errors},
      {"missing_xml", m.missing_xml},
      {"digest", m.digest.empty() ? digest : m.digest},
      {"images_per_cpu_s", m.images_per_cpu_s()},
      {"foreign_cores", m.foreign_cores},
      {"clamped_boxes", m.clamped_boxes},
      {"damaged", m.damaged},
      {"files_seen", m.files_seen},
      {"delivered", m.images},
      {"skipped", m.skipped},
      {"failed", m.failed},
      {"unfinished", m.unfinished},
      {"without_boxes", m.without_boxes},
      {"decoded_own", m.decoded_own},
      {"decoded_libjpeg", m.decoded - m.decoded_own},
      {"refused", refused_of(m)},
      {"copied_bytes", m.copied_bytes},
      {"allocations", m.allocations},
      {"fresh_blocks", m.fresh_blocks},
      {"memory_peak_bytes", m.memory_peak},
      {"overshoot_bytes", m.overshoot_bytes},
      {"labels", files.labels.size()},
      {"labels_hash", hex(files.labels.hash())},
  };
  if (m.full_decode_images_per_s) {
    line["full_decode_images_per_s"] = *m.full_decode_images_per_s;
    line["full_decode_ratio"] = m.images_per_cpu_s() / *m.full_decode_images_per_s;
  }
  if (options.explain) line["explanation"] = Json::parse(to_json(m.explanation));
  if (m.interrupted) line["interrupted"] = true;
  return line;
}

Json json_of(const StageSnapshot& stage) {
  return {
      {"name", stage.name},
      {"parallelism", stage.parallelism},
      {"window", stage.window},
      {"buffer", stage.buffer},
      {"grain_ns", stage.grain_ns},
      {"on_pool", stage.on_pool},
      {"elements_in", stage.elements_in},
      {"elements_out", stage.elements_out},
      {"errors", stage.errors},
      {"calls", stage.calls},
      {"slot_ns", stage.slot_ns},
      {"starved_ns", stage.starved_ns},
      {"blocked_ns", stage.blocked_ns},
      {"bytes_out", stage.bytes_out},
  };
}

std::string shape_text(const ImagenetOptions& options) {
  return std::string(to_string(options.workload)) + ", " + std::string(to_string(options.dtype)) + " " +
         to_string(options.layout.value_or(image::Layout::nhwc)) + ", batches of " + std::to_string(options.batch);
}

std::string means_text(const ImagenetOptions& options) {
  if (options.serial) return "one thread";
  const double cores = HostLimits().cpus().cpus();
  const std::string threads = options.threads > 0 ? std::to_string(options.threads) : print("%g", cores);
  const std::string memory = options.memory_bytes > 0 ? format_bytes(options.memory_bytes) : "automatic";
  return threads + " of " + print("%g", cores) + " cores, memory " + memory;
}

Spread spread(const std::vector<Measurement>& measurements, double (*value)(const Measurement&)) {
  std::vector<double> values;
  for (const Measurement& each : measurements) values.push_back(value(each));
  return spread_of(std::move(values));
}

double ratio_of(const Measurement& m) {
  return m.full_decode_images_per_s && *m.full_decode_images_per_s > 0
             ? m.images_per_cpu_s() / *m.full_decode_images_per_s
             : 0;
}

double cpu_ms_per_image(const Measurement& m) {
  return m.images > 0 ? 1e3 * m.cpu_s / static_cast<double>(m.images) : 0;
}

std::string files_text(const Measurement& m) {
  std::string text =
      print("files %lld = delivered %lld + skipped %lld + failed %lld", static_cast<long long>(m.files_seen),
            static_cast<long long>(m.images), static_cast<long long>(m.skipped), static_cast<long long>(m.failed));
  if (m.unfinished != 0) text += print(" + unfinished %lld", static_cast<long long>(m.unfinished));
  return text + print("; of the delivered %lld have no box\n", static_cast<long long>(m.without_boxes)) +
         decoders_text(m);
}

}  // namespace

std::string json_line(const ImagenetOptions& options, const Files& files, const Measurement& measurement,
                      const std::string& digest) {
  return json_of(options, files, measurement, digest).dump();
}

std::string headline(const ImagenetOptions& options, const Files& files) {
  std::string text = "penstock-imagenet " + std::string(build::version) + ": " + shape_text(options) + "; " +
                     std::to_string(files.paths.size()) + " files x " + std::to_string(options.epochs) + " epochs; " +
                     means_text(options) + "\n";
  text += "labels: " + std::to_string(files.labels.size()) + ", hash " + hex(files.labels.hash()) + "\n";
  if (files.ranks > 1)
    text += "this is one of " + std::to_string(files.ranks) + " ranks; each prints its own figures\n";
  if (options.intraop > 0) text += "--intraop has no effect: one picture is decoded by one thread\n";
  return text;
}

std::string table_head(bool with_unit) {
  return print("%-8s %8s %8s %8s %8s %9s %9s %6s %8s %8s %9s", "", "images", "samples", "batches", "wall s", "images/s",
               "CPU ms/im", "cores", "waiting", "first s", "peak RSS") +
         (with_unit ? "  full decode/s  ratio\n" : "\n");
}

std::string table_row(const std::string& name, const Measurement& m) {
  const double cores = m.wall_s > 0 ? m.cpu_s / m.wall_s : 0;
  std::string row =
      print("%-8s %8lld %8lld %8lld %8.3f %9.1f %9.3f %6.2f %6.1f %% %8.3f %9s", name.c_str(),
            static_cast<long long>(m.images), static_cast<long long>(m.samples), static_cast<long long>(m.batches),
            m.wall_s, m.images_per_s(), cpu_ms_per_image(m), cores, 100 * m.wait_share, m.ttfb_s,
            format_bytes(static_cast<std::uint64_t>(m.peak_rss_bytes)).c_str());
  if (m.full_decode_images_per_s) row += print("  %13.1f  %5.3f", *m.full_decode_images_per_s, ratio_of(m));
  if (m.interrupted) row += "  interrupted";
  if (m.error) row += "  ended by an error";
  return row + "\n";
}

std::string table_foot(const std::vector<Measurement>& measurements, const std::string& digest) {
  const Measurement& last = measurements.back();
  const Spread rate = spread(measurements, [](const Measurement& m) { return m.images_per_s(); });
  const Spread cpu = spread(measurements, cpu_ms_per_image);
  std::string text = print("median   %.1f images/s (%.1f .. %.1f), %.3f CPU ms per image", rate.median, rate.low,
                           rate.high, cpu.median);
  if (last.full_decode_images_per_s)
    text += print(", %.3f of full decode per CPU second", spread(measurements, ratio_of).median);
  text += print("\nerrors %lld, missing XML %lld, clamped boxes %lld, damaged files %lld; digest %s\n",
                static_cast<long long>(last.errors), static_cast<long long>(last.missing_xml),
                static_cast<long long>(last.clamped_boxes), static_cast<long long>(last.damaged),
                digest.empty() ? "not taken" : digest.c_str());
  text += files_text(last);
  if (last.foreign_cores > 0.1)
    text += print("other programs kept %.1f cores busy: trust CPU times, not rates\n", last.foreign_cores);
  return text;
}

void write_stats(const ImagenetOptions& options, const Files& files, const std::string& pipeline,
                 const std::vector<Measurement>& measurements, const std::string& digest) {
  Json stats = {{"pipeline", pipeline}, {"repetitions", Json::array()}, {"stages", Json::array()}};
  for (const Measurement& each : measurements) stats["repetitions"].push_back(json_of(options, files, each, digest));
  if (!measurements.empty())
    for (const StageSnapshot& stage : measurements.back().snapshot.stages) stats["stages"].push_back(json_of(stage));
  std::ofstream file(options.stats_file);
  file << stats.dump(2) << "\n";
  if (!file.flush()) throw Error(ErrorCode::unavailable, "cannot write '" + options.stats_file + "'");
}

}  // namespace penstock::bench
