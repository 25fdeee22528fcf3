// What tests of kernels share.
#pragma once

#include <gtest/gtest.h>
#include <penstock/image/convert.h>

#include <string>

#include "ops/image/simd.h"

namespace penstock::image {

// Tests whose parameter is a target are called by its name.
inline std::string name_of(const ::testing::TestParamInfo<Simd>& info) { return std::string(to_string(info.param)); }

inline const Normaliser& normaliser() {
  static const Normaliser of_imagenet;
  return of_imagenet;
}

}  // namespace penstock::image
