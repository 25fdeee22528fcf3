// Comparing examples.
#pragma once

#include <penstock/imagenet.h>

#include <vector>

namespace penstock::test {

// All elements of one epoch. Errors are thrown.
std::vector<imagenet::Example> collect(const Dataset<imagenet::Example>& dataset, const RunOptions& options = {});

void expect_equal(const std::vector<imagenet::Example>& got, const std::vector<imagenet::Example>& expected);

// A tensor of f32 in another type, each value rounded by itself.
Tensor rounded(const Tensor& floats, DType type);

// [height, width, 3] -> [3, height, width].
Tensor planes_of(const Tensor& pixels);

}  // namespace penstock::test
