// A folder with a few small pictures and annotations in ILSVRC's layout, gone with the object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace penstock::pictures {

class SampleSet {
 public:
  // Picture i belongs to class n0000000(i % 3) and has i % 3 boxes; for i % 3 == 0 there is a
  // picture without objects (i even) or without annotation (i odd). Sizes and colour sampling vary.
  explicit SampleSet(int pictures);

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string images() const { return (folder() / "Data").string(); }
  const std::vector<std::string>& paths() const { return paths_; }  // sorted

  std::string annotation_of(const std::string& path) const;

  // Replaces a file's contents.
  static void write(const std::filesystem::path& path, const std::string& bytes);

 private:
  void add(int number);

  const test::TemporaryFolder folder_;
  std::vector<std::string> paths_;
};

}  // namespace penstock::pictures
