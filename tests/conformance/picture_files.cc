#include "tests/conformance/picture_files.h"

#include <filesystem>
#include <fstream>

#include "tests/support/pictures/encode_jpeg.h"

namespace conformance {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string label_of(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return "n" + std::string(8 - digits.size(), '0') + digits;
}

std::string jpeg_of(std::uint8_t grey) {
  const std::vector<std::uint8_t> pixels(PictureFiles::kHeight * PictureFiles::kWidth * 3, grey);
  const auto file = penstock::pictures::encode_jpeg(pixels, PictureFiles::kHeight, PictureFiles::kWidth);
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

std::string xml_with(std::size_t boxes) {
  std::string text = "<annotation><size><width>16</width><height>12</height></size>";
  for (std::size_t i = 0; i < boxes; ++i)
    text += "<object><name>thing</name><bndbox><xmin>" + std::to_string(1 + i) +
            "</xmin><ymin>2</ymin><xmax>14</xmax><ymax>11</ymax></bndbox></object>";
  return text + "</annotation>";
}

}  // namespace

PictureFiles::PictureFiles() {
  std::vector<std::string> names;
  for (std::int64_t number = 0; number < kPictures; ++number) {
    names.push_back(label_of(number));
    write(number);
  }
  labels_ = penstock::LabelTable::from_names(std::move(names));
}

const PictureFiles& PictureFiles::get() {
  static const PictureFiles files;
  return files;
}

std::string PictureFiles::file(std::int64_t number, const std::string& name) const {
  return (folder_.path() / "Data" / label_of(number) / (name + ".JPEG")).string();
}

void PictureFiles::write(std::int64_t number) const {
  write_file(path(number), jpeg_of(grey(number)));
  write_file(empty(number), "");
  if (has_annotation(number)) write_file(penstock::annotation_paths(path(number)).front(), xml_with(boxes_in(number)));
}

}  // namespace conformance
