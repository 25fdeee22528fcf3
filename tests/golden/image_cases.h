// Files of pictures: decoded pixels, crops, and other operators.
#pragma once

#include <penstock/tensor.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tests/golden/report.h"

namespace golden {

// The decodes, boxes and crops of one image of a crops file; each is a case of its own.
void check_crops(const nlohmann::json& image, const std::filesystem::path& data, Report& report);

// The operators of one image of a file such as resize.json.
void check_operators(const nlohmann::json& image, const std::filesystem::path& data, Report& report);

// The bytes of a file. Throws Mismatch if it is not the one that the case was made with.
penstock::Tensor read_expected_file(const std::filesystem::path& file, const nlohmann::json& sha256);

// Throws Mismatch with `what` unless both print alike.
void expect_equal(const std::string& what, const nlohmann::json& expected, const nlohmann::json& got);

}  // namespace golden
