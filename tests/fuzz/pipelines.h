// Small pipelines of every kind that a checkpoint can be of, for the targets `checkpoint` and `save_point`.
#pragma once

#include <penstock/penstock.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace penstock::fuzz {

using Values = std::vector<std::int64_t>;

struct Pipeline {
  Dataset<Values> data;
  bool is_endless = false;
};

const std::vector<Pipeline>& pipelines();
const std::vector<Pipeline>& saving_pipelines();  // their checkpoints have save points

// A run that reads serially and gives a save point before each element, where it gives any.
Run<Values> saving_run(const Pipeline& pipeline, std::shared_ptr<const Checkpoint> from = nullptr);
// Takes an element, or an error that is planted. False: there is no more.
bool take_one(Run<Values>& run);
// A checkpoint with a save point, behind a few elements.
Checkpoint saved(const Pipeline& pipeline);

// Of the pipeline: what stands in front of each save point of its runs.
std::string_view digest_in(std::string_view save_point);

// The values of what is left of an epoch, of an endless one those of the first requests; false where the checkpoint was
// refused on the way.
struct Rest {
  bool whole = true;
  Values values;
};
Rest rest_of(Run<Values>& run);

}  // namespace penstock::fuzz
