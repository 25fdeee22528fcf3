// Sample data in the layout of ILSVRC, for whoever has no ImageNet at hand:
//
//   FOLDER/Data/CLS-LOC/train/n10000037/n10000037_12.JPEG
//   FOLDER/Annotations/CLS-LOC/train/n10000037/n10000037_12.xml
//
//   penstock::pictures::generate_imagenet({.folder = "build/sample", .images = 1000});  // 10 s, 110 MB
#pragma once

#include <cstdint>
#include <string>

namespace penstock::pictures {

struct GenerateOptions {
  std::string folder;
  std::int64_t images = 1000;
  std::int64_t classes = 100;  // image i belongs to class i % classes
  std::uint64_t seed = 1;
  int threads = 2;  // changes nothing but the time
};

struct GenerateReport {
  std::int64_t images = 0;
  std::int64_t pixels = 0;
  std::int64_t bytes = 0;  // of the JPEG files
};

// Writes JPEGs and VOC XML files, replacing those of the same name. Picture i depends on (seed, i)
// alone. penstock::Error with path and reason if a file cannot be written; then the data is
// incomplete.
GenerateReport generate_imagenet(const GenerateOptions& options);

}  // namespace penstock::pictures
