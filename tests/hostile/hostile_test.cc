// Inputs that are made to break a loader. What becomes of each stands in MATRIX.md, which this test compares:
//   PENSTOCK_UPDATE=1 ctest --preset release -R Hostile
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "bench/imagenet/process.h"
#include "tests/hostile/observe.h"
#include "tests/hostile/pictures.h"
#include "tests/support/expect_error.h"
#include "tests/support/file_contents.h"
#include "tests/support/source_folder.h"

namespace penstock::hostile {
namespace {

const std::filesystem::path matrix_file = test::source_folder() / "tests/hostile/MATRIX.md";

void expect_as_expected(const Row& row) {
  SCOPED_TRACE(row.input + ", " + row.mode);
  EXPECT_EQ(row.got.outcome, row.expected.outcome) << row.got.text;
  EXPECT_EQ(row.got.counted, row.expected.counted) << row.got.text;
  EXPECT_THAT(row.got.text, ::testing::HasSubstr(row.expected.text));
}

std::string table(const std::vector<Row>& rows) {
  std::string text, chapter;
  for (const Row& row : rows) {
    if (row.chapter != chapter)
      text += "\n## " + row.chapter + "\n\n| input | mode | outcome | counted as |\n|---|---|---|---|\n";
    chapter = row.chapter;
    text += "| " + row.input + " | " + row.mode + " | " + row.got.outcome + " | " + row.got.counted + " |\n";
  }
  return text;
}

TEST(Hostile, InputsHaveTheOutcomesOfTheMatrix) {
  std::string text =
      "# Hostile input\n\nMade and checked by `tests/hostile/hostile_test.cc`. Every input stands "
      "between good ones, which are "
      "delivered as they are\nwithout it. Skipped and delivered are counts under `--on-error "
      "skip`; without it the run ends with the "
      "outcome's error, which\nnames the file.\n";
  for (const auto& rows : {file_rows(), list_rows(), config_rows(), function_rows()}) {
    for (const Row& row : rows) expect_as_expected(row);
    text += table(rows);
  }
  if (::getenv("PENSTOCK_UPDATE") != nullptr) std::ofstream(matrix_file) << text;
  EXPECT_EQ(text, test::file_contents(matrix_file)) << "if it should be so: PENSTOCK_UPDATE=1, and look at it";
}

// Every size that a header can claim is refused without a byte for its pixels.
TEST(Hostile, HugeHeaderTakesNoMemory) {
  const std::string file = claiming_size(jpeg(30, 40, {.progressive = true}), 65500, 65500);
  bench::reset_peak_memory();
  const std::int64_t before = bench::peak_memory_bytes();
  for (int i = 0; i < 10; ++i)
    EXPECT_ERROR(image::decode_jpeg(std::as_bytes(std::span(file))), ErrorCode::resource_exhausted, "65500 x 65500");
  EXPECT_LT(bench::peak_memory_bytes() - before, 16 * std::int64_t{1 << 20});
}

TEST(Hostile, HugeAnnotationIsNotRead) {
  const auto all = annotations();
  const auto huge =
      std::find_if(all.begin(), all.end(), [](const Input& input) { return input.name == "100 MB of XML"; });
  ASSERT_NE(huge, all.end());
  bench::reset_peak_memory();
  const std::int64_t before = bench::peak_memory_bytes();
  EXPECT_EQ(load(*huge).outcome, "resource_exhausted");
  EXPECT_LT(bench::peak_memory_bytes() - before, 64 * std::int64_t{1 << 20});
}

}  // namespace
}  // namespace penstock::hostile
