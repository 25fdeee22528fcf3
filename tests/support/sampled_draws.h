// Which input each draw of a sample_from takes, where the inputs are so long.
//
// Recorded from the library, over lists that tell which they are: what is legal, say sample.json and sample_from_test.
// A test has them to know what must come of inputs that are no lists.
#pragma once

#include <penstock/penstock.h>

#include <cstddef>
#include <vector>

namespace penstock::test {

inline Dataset<std::size_t> sampled_draws(const std::vector<std::size_t>& lengths, const SampleOptions& options) {
  std::vector<Dataset<std::size_t>> lists;
  for (const std::size_t length : lengths) lists.push_back(from_vector(std::vector<std::size_t>(length, lists.size())));
  return sample_from(lists, options);
}

}  // namespace penstock::test
