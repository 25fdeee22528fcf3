// penstock-opponent: penstock and plain threads on the same files with the same kernels, in turn,
// in one process. The figure that counts is the ratio of CPU time per image: what the engine costs
// beside the work.
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/imagenet/interrupt.h"
#include "bench/imagenet/options.h"
#include "bench/imagenet/pipeline.h"
#include "bench/imagenet/repetition.h"
#include "bench/imagenet/report.h"
#include "bench/meter.h"
#include "bench/opponent/plain_threads.h"

namespace {

using namespace penstock::bench;

double cpu_per_image(const Measurement& m) { return m.cpu_s / static_cast<double>(m.images); }

// One line or row for each repetition, and the ratio of each round.
class Duel {
 public:
  explicit Duel(const ImagenetOptions& options)
      : options_(options),
        files_(find_files(options)),
        engine_(options, files_, FileOrder::shuffled),
        threads_(options, files_),
        progress_(true) {}

  int run() {
    if (!options_.json) print(headline(options_, files_) + table_head(false));
    engine_.run({}, progress_);
    threads_.run();
    for (std::int64_t round = 0; round < options_.repetitions; ++round) fight(round % 2 == 1);
    conclude();
    return 0;
  }

 private:
  // Who comes first changes from round to round.
  void fight(bool threads_first) {
    Measurement threads;
    if (threads_first) threads = threads_.run();
    const Measurement engine = engine_.run({}, progress_);
    if (!threads_first) threads = threads_.run();
    show("penstock-imagenet", engine);
    show("plain-threads", threads);
    engine_costs_.push_back(cpu_per_image(engine));
    threads_costs_.push_back(cpu_per_image(threads));
    ratios_.push_back(engine_costs_.back() / threads_costs_.back());
  }

  void show(const char* program, const Measurement& m) {
    if (!options_.json) return print(table_row(program, m));
    auto line = nlohmann::ordered_json::parse(json_line(options_, files_, m, ""));
    line["program"] = program;
    print(line.dump() + "\n");
  }

  void conclude() const {
    const Spread ratio = spread_of(ratios_);
    const double cheapest = spread_of(engine_costs_).low / spread_of(threads_costs_).low;
    if (!options_.json) {
      std::printf(
          "CPU per image, penstock / plain threads: %.4f (%.4f .. %.4f), median of %zu rounds; "
          "cheapest against cheapest %.4f\n",
          ratio.median, ratio.low, ratio.high, ratios_.size(), cheapest);
      return;
    }
    const nlohmann::ordered_json line = {{"program", "penstock-opponent"},
                                         {"rounds", ratios_.size()},
                                         {"cpu_per_image_ratio", ratio.median},
                                         {"low", ratio.low},
                                         {"high", ratio.high},
                                         {"cheapest_ratio", cheapest}};
    print(line.dump() + "\n");
  }

  static void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  const ImagenetOptions& options_;
  Files files_;
  Bench engine_;
  PlainThreads threads_;
  Progress progress_;
  std::vector<double> engine_costs_, threads_costs_, ratios_;  // by round
};

}  // namespace

int main(int count, char** arguments) {
  const ParsedOptions parsed = parse_options(
      count, arguments,
      {"penstock-opponent", "penstock-imagenet's work by penstock and by plain threads, in turn. Takes its flags."});
  if (parsed.exit_code) return *parsed.exit_code;
  end_at_interrupt();  // each row is on stdout as soon as it is measured
  try {
    return Duel(parsed.options).run();
  } catch (const UsageError& error) {
    std::fprintf(stderr, "penstock-opponent: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock-opponent: %s\n", error.what());
    return 1;
  }
}
