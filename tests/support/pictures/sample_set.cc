#include "tests/support/pictures/sample_set.h"

#include <algorithm>
#include <fstream>

#include "tests/support/pictures/encode_jpeg.h"

namespace penstock::pictures {
namespace {

namespace fs = std::filesystem;

std::string jpeg_of(int number, std::int64_t height, std::int64_t width) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (const std::int64_t value : {5 * x + number, 3 * y + 7 * x, x * y / 3 + 11 * number})
        pixels.push_back(static_cast<std::uint8_t>(value));
  pictures::EncodeOptions how;
  how.luma_h = how.luma_v = 1 + number % 2;
  const auto file = pictures::encode_jpeg(pixels, height, width, how);
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

std::string object_text(int number, int object) {
  const auto tag = [](const char* name, int value) {
    return std::string("<") + name + ">" + std::to_string(value) + "</" + name + ">";
  };
  return "<object><name>thing" + std::to_string(object) + "</name><bndbox>" + tag("xmin", 1 + object) +
         tag("ymin", 2 + number % 5) + tag("xmax", 20 + 5 * object) + tag("ymax", 18 + object) + "</bndbox></object>";
}

std::string xml_of(int number, std::int64_t height, std::int64_t width, int objects) {
  std::string text = "<annotation><size><width>" + std::to_string(width) + "</width><height>" + std::to_string(height) +
                     "</height><depth>3</depth></size>";
  for (int i = 0; i < objects; ++i) text += object_text(number, i);
  return text + "</annotation>";
}

}  // namespace

SampleSet::SampleSet(int pictures) {
  for (int i = 0; i < pictures; ++i) add(i);
  std::sort(paths_.begin(), paths_.end());
}

void SampleSet::add(int number) {
  const std::int64_t height = 24 + number % 7, width = 32 + number % 11;
  const std::string label = "n0000000" + std::to_string(number % 3);
  const std::string name = label + "_" + std::to_string(100 + number) + ".JPEG";
  const fs::path path = folder() / "Data" / "CLS-LOC" / "train" / label / name;
  write(path, jpeg_of(number, height, width));
  paths_.push_back(path.string());
  const bool has_annotation = number % 3 != 0 || number % 2 == 0;
  if (has_annotation) write(annotation_of(path.string()), xml_of(number, height, width, number % 3));
}

std::string SampleSet::annotation_of(const std::string& path) const {
  const fs::path below = fs::path(path).lexically_relative(folder() / "Data");
  return (folder() / "Annotations" / below).replace_extension(".xml").string();
}

void SampleSet::write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace penstock::pictures
