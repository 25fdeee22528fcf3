// Two pipelines that read, decode and batch pictures, with what they must deliver.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/pictures/sample_set.h"
#include "tests/support/random_graphs/trial.h"

namespace soak {

namespace ps = penstock;

struct PicturePipeline {
  std::string name;
  random_graphs::Built built;
  std::map<std::uint32_t, random_graphs::Deliveries> expected;  // by epoch, of a serial run
};

class PicturePipelines {
 public:
  static constexpr std::uint32_t epochs = 3;

  PicturePipelines();
  const std::vector<PicturePipeline>& all() const { return pipelines_; }

  // As many pictures at once as there may be calls that wait: the most threads that any run has, each with all its
  // memory.
  void run_at_once() const;

 private:
  const ps::pictures::SampleSet files_;
  std::vector<PicturePipeline> pipelines_;
};

// Epochs of one of them, some left early, the run perhaps destroyed in the midst of one. Throws random_graphs::Failure
// where something else is delivered than was expected.
void run_some_epochs(const PicturePipeline& pipeline, random_graphs::Courier& courier, penstock::test::Random& random,
                     random_graphs::Coverage& coverage);

}  // namespace soak
