// Writes small pictures that a model can learn from, in ILSVRC's layout:
//
//   class_pictures FOLDER CLASSES PICTURES      FOLDER/Data/CLS-LOC/train/n0000000K/n0000000K_I.JPEG
//
// A picture is noise around a brightness of its own, with a tint that its class decides; most single pixels tell
// nothing. The same bytes each time.
#include <penstock/random.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/pictures/encode_jpeg.h"

namespace {

namespace fs = std::filesystem;
namespace ps = penstock;

constexpr std::int64_t height = 48, width = 64;
constexpr int noise = 60, tint = 24;

// Red, green and blue of class k: more or less of each, by the bits of k + 1.
int tint_of(int label, int channel) { return ((label + 1) >> channel & 1) != 0 ? tint : -tint; }

std::vector<std::uint8_t> paint(int label, int number) {
  ps::CounterRng random = ps::make_rng(7, 0, 0, number, static_cast<std::uint64_t>(label));
  const int brightness = random.uniform(100, 156);
  std::vector<std::uint8_t> pixels;
  for (std::int64_t i = 0; i < height * width; ++i)
    for (int channel = 0; channel < 3; ++channel)
      pixels.push_back(static_cast<std::uint8_t>(brightness + tint_of(label, channel) + random.uniform(-noise, noise)));
  return pixels;
}

void write_picture(const fs::path& folder, int label, int number) {
  const std::string name = "n0000000" + std::to_string(label);
  fs::create_directories(folder / name);
  const auto jpeg = penstock::pictures::encode_jpeg(paint(label, number), height, width);
  std::ofstream file(folder / name / (name + "_" + std::to_string(number) + ".JPEG"), std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.write(reinterpret_cast<const char*>(jpeg.data()), static_cast<std::streamsize>(jpeg.size()));
  file.close();
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 3) throw std::invalid_argument("usage: class_pictures FOLDER CLASSES PICTURES");
  const int classes = std::stoi(arguments[1]), pictures = std::stoi(arguments[2]);
  for (int i = 0; i < pictures; ++i)
    write_picture(fs::path(arguments[0]) / "Data" / "CLS-LOC" / "train", i % classes, i);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
