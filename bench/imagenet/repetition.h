// One repetition: a fresh run from epoch 0 to its end, and what it cost.
#pragma once

#include <penstock/explanation.h>
#include <penstock/image/jpeg.h>
#include <penstock/snapshot.h>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/imagenet/consumer.h"
#include "bench/imagenet/options.h"
#include "bench/imagenet/pipeline.h"
#include "bench/imagenet/progress.h"

namespace penstock::bench {

struct Measurement {
  std::int64_t files_seen = 0;  // that were to be read: images + skipped + failed + unfinished
  std::int64_t images = 0;   // files that were delivered: samples came from them, or their annotation names no object
  std::int64_t skipped = 0;  // left out under --on-error
  std::int64_t failed = 0;   // that ended the run
  // read when --steps, an error or Ctrl-C ended it, but not delivered; 0 where it came to its end
  std::int64_t unfinished = 0;
  std::int64_t without_boxes = 0;  // of images: the annotation names no object
  std::int64_t samples = 0;
  std::int64_t batches = 0;
  double wall_s = 0;         // from the start of the run to its end
  double cpu_s = 0;          // user and system of the whole process meanwhile
  double foreign_cores = 0;  // that other processes kept busy meanwhile
  double wait_share = 0;     // of wall_s that the consumer waited for a batch
  double ttfb_s = 0;         // time to the first batch
  std::int64_t peak_rss_bytes = 0;
  std::int64_t errors = 0;
  std::int64_t missing_xml = 0;
  std::int64_t clamped_boxes = 0;
  std::int64_t damaged = 0;
  std::int64_t decoded = 0;                                  // pictures, those read ahead in vain included
  std::int64_t decoded_own = 0;                              // of these, by penstock's own decoder
  std::array<std::int64_t, image::refusal_count> refused{};  // the others, if it was asked, by image::Refusal
  std::int64_t copied_bytes = 0;                             // of samples that did not lie in their places in the batch
  std::int64_t allocations = 0;
  std::int64_t fresh_blocks = 0;                      // of 256 KiB and more that the payload pool had to map anew
  std::int64_t memory_peak = 0, overshoot_bytes = 0;  // of the run's budget
  std::string digest;                                 // empty: not taken
  bool interrupted = false;
  std::exception_ptr error;  // that ended it before its end; null: none
  Snapshot snapshot;         // of the run at its end; empty for cached batches
  Explanation explanation;
  std::optional<double> full_decode_images_per_s;

  double images_per_s() const { return wall_s > 0 ? static_cast<double>(images) / wall_s : 0; }
  double images_per_cpu_s() const { return cpu_s > 0 ? static_cast<double>(images) / cpu_s : 0; }
};

struct RepetitionSettings {
  bool hash = false;
  bool paced = true;                                           // --step-time applies
  std::int64_t keep = 0;                                       // batches to keep for run_cached()
  std::function<void(const SampleBatch&)> on_first = nullptr;  // called with the first batch
};

// Measures `files` under `options`. Not thread-safe.
class Bench {
 public:
  Bench(const ImagenetOptions& options, const Files& files, FileOrder order);

  // Throws ElementError where --on-error says stop.
  Measurement run(const RepetitionSettings& settings, Progress& progress);

  // The same, but the error is in the answer, beside what there was until then.
  Measurement run_until_error(const RepetitionSettings& settings, Progress& progress);

  // --cached-batches: as many batches as the last run delivered, from those that it kept.
  Measurement run_cached(Progress& progress);

  std::string description() const { return describe(pipeline_); }

 private:
  const ImagenetOptions& options_;
  std::shared_ptr<imagenet::Counters> counters_;
  SampleBatches pipeline_;
  std::vector<SampleBatch> kept_;
  Measurement last_;
};

}  // namespace penstock::bench
