// Pictures with captions: one file of lines beside a folder of pictures, shuffled together.
//
//   captions FOLDER LINES      line i of LINES belongs to the i-th JPEG below FOLDER, in the order of their paths
//
// Prints the caption of each picture, batch by batch. Two lists are zipped by their positions: no file is opened before
// it is known where it comes in the shuffled order, and nothing waits in a shuffle buffer.
#include <penstock/image.h>
#include <penstock/io.h>
#include <penstock/penstock.h>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ps = penstock;

namespace {

struct Line {
  std::string path;
  std::string caption;
};

struct Example {
  ps::Tensor picture;  // u8 [32, 32, 3]
  std::string name;
  std::string caption;
};

}  // namespace

template <> struct ps::Fields<Example> {
  static constexpr auto value = std::tuple{&Example::picture, &Example::name, &Example::caption};
};

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  if (in.bad() || lines.empty()) throw std::runtime_error("cannot read lines from " + path);
  return lines;
}

Example load(Line line) {
  thread_local ps::ByteBuffer buffer;
  const ps::Tensor picture = ps::image::decode_jpeg(ps::read_file(line.path, buffer));
  return {ps::image::resize_bilinear(ps::image::view_of(picture), {32, 32}),
          std::filesystem::path(line.path).filename().string(), std::move(line.caption)};
}

void print_captions(const std::string& folder, const std::string& list) {
  const auto pictures = ps::list_files(folder, {".jpg", ".jpeg"});
  const auto lines = ps::from_vector(lines_of(list));
  if (pictures.cardinality() != lines.cardinality())
    throw std::runtime_error("there are not as many lines in " + list + " as pictures below " + folder);
  const auto examples = ps::zip<Line>(pictures, lines)
                            .shuffle(ps::UNKNOWN_CARDINALITY, {.seed = 7})
                            .map(load, {.blocks = true, .name = "load"});
  for (const auto& batch : examples.batch(4).prefetch()) {
    const auto& names = batch.column<&Example::name>();
    const auto& captions = batch.column<&Example::caption>();
    std::cout << "batch of " << batch.size() << '\n';
    for (std::size_t i = 0; i < names.size(); ++i) std::cout << "  " << names[i] << ": " << captions[i] << '\n';
  }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) {
    std::cerr << "usage: captions FOLDER LINES\n";
    return 2;
  }
  print_captions(arguments[1], arguments[2]);
} catch (const std::exception& error) {
  std::cerr << "captions: " << error.what() << '\n';
  return 1;
}
