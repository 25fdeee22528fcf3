// PictureFiles: what the ops of ops/imagenet read in the suite. Each picture shows its number, and so does its label.
#pragma once

#include <penstock/imagenet.h>

#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace conformance {

// Picture 7 is Data/n00000007/7.JPEG, 16 x 12 pixels of one grey. One in four has no annotation, the others have one to
// three boxes.
class PictureFiles {
 public:
  static constexpr std::int64_t kPictures = 200;  // as many as any check takes
  static constexpr std::int64_t kHeight = 12, kWidth = 16;

  // Made when first asked for, gone with the process.
  static const PictureFiles& get();

  std::string path(std::int64_t number) const { return file(number, std::to_string(number)); }
  // Files that fail, with texts that say "fails on 7": one without a byte in it, one that is not there.
  std::string empty(std::int64_t number) const { return file(number, "fails on " + std::to_string(number)); }
  std::string missing(std::int64_t number) const { return file(number, "gone, fails on " + std::to_string(number)); }

  static bool has_annotation(std::int64_t number) { return number % 4 != 3; }
  static std::size_t boxes_in(std::int64_t number) {
    return has_annotation(number) ? 1 + static_cast<std::size_t>(number % 3) : 1;
  }
  static std::uint8_t grey(std::int64_t number) { return static_cast<std::uint8_t>(20 + 37 * number % 211); }

  // The number of a label is that of its picture.
  const penstock::LabelTable& labels() const { return labels_; }

 private:
  PictureFiles();
  std::string file(std::int64_t number, const std::string& name) const;
  void write(std::int64_t number) const;

  const penstock::test::TemporaryFolder folder_;
  penstock::LabelTable labels_;
};

}  // namespace conformance
