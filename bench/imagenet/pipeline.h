// The pipeline that is measured.
#pragma once

#include <penstock/imagenet.h>
#include <penstock/run.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/imagenet/options.h"

namespace penstock::bench {

using SampleBatch = Batch<imagenet::Example>;
using SampleBatches = Dataset<SampleBatch>;

// The files of a run, in the order of the list, and the numbers of their labels.
struct Files {
  std::vector<std::string> paths;
  LabelTable labels;
  std::int64_t ranks = 1;  // how many processes share them
};

// Walks the folder or reads the list. penstock::Error if there is nothing, or no file has a label.
Files find_files(const ImagenetOptions& options);

enum class FileOrder : std::uint8_t {
  listed,    // as --peer wants them: one stream of --passes passes over the list
  shuffled,  // anew in each epoch
};

SampleBatches make_pipeline(const ImagenetOptions& options, const Files& files, FileOrder order,
                            std::shared_ptr<imagenet::Counters> counters);

RunOptions run_options(const ImagenetOptions& options);

}  // namespace penstock::bench
