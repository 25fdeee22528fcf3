// What penstock-imagenet prints.
#pragma once

#include <string>
#include <vector>

#include "bench/imagenet/options.h"
#include "bench/imagenet/pipeline.h"
#include "bench/imagenet/repetition.h"

namespace penstock::bench {

// A repetition as one line of JSON, without its end. `digest` is the warm-up's where the repetition
// has none of its own.
std::string json_line(const ImagenetOptions& options, const Files& files, const Measurement& measurement,
                      const std::string& digest);

// Before the first repetition: what is measured, in two lines.
std::string headline(const ImagenetOptions& options, const Files& files);

std::string table_head(bool with_unit);
std::string table_row(const std::string& name, const Measurement& measurement);

// After the last one: medians, counts, digest.
std::string table_foot(const std::vector<Measurement>& measurements, const std::string& digest);

// --stats: the pipeline, all repetitions, and the stages of the last one.
void write_stats(const ImagenetOptions& options, const Files& files, const std::string& pipeline,
                 const std::vector<Measurement>& measurements, const std::string& digest);

}  // namespace penstock::bench
