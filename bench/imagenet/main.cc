// penstock-imagenet: how many images a second come out of JPEG files and their XML.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/imagenet/interrupt.h"
#include "bench/imagenet/options.h"
#include "bench/imagenet/peer.h"
#include "bench/imagenet/pipeline.h"
#include "bench/imagenet/progress.h"
#include "bench/imagenet/repetition.h"
#include "bench/imagenet/report.h"
#include "bench/imagenet/straightforward.h"
#include "bench/imagenet/unit.h"
#include "tests/support/pictures/generate.h"

namespace {

using namespace penstock::bench;

int generate(const ImagenetOptions& options) {
  const penstock::pictures::GenerateReport report =
      penstock::pictures::generate_imagenet({.folder = options.data, .images = options.generate});
  std::fprintf(stderr, "penstock-imagenet: wrote %lld pictures, %lld bytes, to %s\n",
               static_cast<long long>(report.images), static_cast<long long>(report.bytes), options.data.c_str());
  return 0;
}

// A whole measurement: warm-up, repetitions, report.
class Session {
 public:
  explicit Session(const ImagenetOptions& options)
      : options_(options),
        files_(find_files(options)),
        bench_(options, files_, FileOrder::shuffled),
        progress_(options.quiet) {
    if (options.with_unit) unit_.emplace(files_.paths);
  }

  int run() {
    if (!options_.json) print(headline(options_, files_) + table_head(options_.with_unit));
    watch_for_interrupt();
    measure_all();
    report();
    if (error_) std::rethrow_exception(error_);
    return interrupted() ? 130 : 0;
  }

 private:
  // The warm-up is reported only where nothing else is: Ctrl-C or an error ended it.
  void measure_all() {
    warm_up();
    for (std::int64_t i = 1; i <= options_.repetitions && !interrupted() && !error_; ++i) repeat(i);
    if (!measured_.empty()) return;
    warm_up_.interrupted = interrupted();
    record("warm-up", warm_up_);
  }

  void report() const {
    if (!options_.json) print(table_foot(measured_, digest_));
    if (options_.explain) explain_last();
    if (!options_.stats_file.empty()) write_stats(options_, files_, bench_.description(), measured_, digest_);
  }

  static void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  // stdout is for the JSON lines alone.
  void explain_last() const {
    std::fputs(to_text(measured_.back().explanation).c_str(), options_.json ? stderr : stdout);
  }

  // Without --steps, that is; the bar then ends early.
  std::int64_t expected_images() const {
    return static_cast<std::int64_t>(files_.paths.size()) * options_.epochs / files_.ranks;
  }

  Measurement measure(const std::string& title, const RepetitionSettings& settings) {
    const ProgressBar bar(progress_, title, expected_images());
    const bool cached = options_.cached_batches > 0 && settings.keep == 0;
    Measurement m = cached ? bench_.run_cached(progress_) : bench_.run_until_error(settings, progress_);
    error_ = m.error;
    return m;
  }

  // Not timed: fills the page cache, takes the digest, and keeps the batches of --cached-batches.
  void warm_up() {
    warm_up_ = measure("warm-up", {.hash = true, .paced = false, .keep = options_.cached_batches});
    digest_ = warm_up_.digest;
  }

  void repeat(std::int64_t number) {
    const double before = unit_ ? unit_->images_per_s() : 0;
    Measurement m = measure("rep " + std::to_string(number), {.hash = options_.digest_timed});
    if (unit_) m.full_decode_images_per_s = (before + unit_->images_per_s()) / 2;
    record(std::to_string(number), m);
  }

  void record(const std::string& name, const Measurement& m) {
    measured_.push_back(m);
    print(options_.json ? json_line(options_, files_, m, digest_) + "\n" : table_row(name, m));
  }

  const ImagenetOptions& options_;
  Files files_;
  Bench bench_;
  Progress progress_;
  std::optional<Unit> unit_;
  std::string digest_;
  Measurement warm_up_;
  std::vector<Measurement> measured_;
  std::exception_ptr error_;  // that ended the last measurement
};

int run(const ImagenetOptions& options) {
  end_at_interrupt();
  if (options.generate > 0) return generate(options);
  if (options.straightforward) return run_straightforward(options);
  if (options.peer) return run_peer(options);
  return Session(options).run();
}

}  // namespace

int main(int count, char** arguments) {
  const ParsedOptions parsed = parse_options(
      count, arguments,
      {"penstock-imagenet", "ImageNet throughput: JPEG and XML in, batches out. One line for each repetition."});
  if (parsed.exit_code) return *parsed.exit_code;
  try {
    return run(parsed.options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock-imagenet: %s\n", error.what());
    return 1;
  }
}
