// fuzz-seeds FOLDER: small valid inputs, from which libFuzzer goes on: FOLDER/<target>/<name>.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/fuzz/pipelines.h"
#include "tests/support/pictures/encode_jpeg.h"

namespace {

using penstock::pictures::EncodeOptions;
using penstock::pictures::JpegColour;

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string jpeg(std::int64_t height, std::int64_t width, const EncodeOptions& how) {
  const auto bytes = static_cast<std::int64_t>(penstock::pictures::bytes_per_pixel(how.colour));
  std::vector<std::uint8_t> pixels;
  for (std::int64_t i = 0; i < height * width * bytes; ++i) pixels.push_back(static_cast<std::uint8_t>(i / 3));
  const auto file = penstock::pictures::encode_jpeg(pixels, height, width, how);
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

std::string object(const std::string& box) { return "<object><name>thing</name><bndbox>" + box + "</bndbox></object>"; }

std::string xml(const std::string& objects) {
  return "<annotation><size><width>16</width><height>9</height><depth>3</depth></size>" + objects + "</annotation>";
}

std::string loader_input(int flags, const std::string& annotation, const std::string& picture) {
  std::string bytes;
  bytes += static_cast<char>(flags);
  bytes += static_cast<char>(annotation.size() & 255u);
  bytes += static_cast<char>(annotation.size() >> 8);
  return bytes + annotation + picture;
}

void write_loader_seeds(const std::filesystem::path& folder) {
  const std::vector<EncodeOptions> hows{{},
                                        {.luma_h = 2, .luma_v = 2},
                                        {.luma_h = 2, .progressive = true},
                                        {.colour = JpegColour::grey},
                                        {.colour = JpegColour::rgb},
                                        {.colour = JpegColour::cmyk},
                                        {.colour = JpegColour::ycck},
                                        {.arithmetic = true},
                                        {.quality = 20, .restart_rows = 1}};
  const std::string inside = "<xmin>2</xmin><ymin>1</ymin><xmax>12</xmax><ymax>8.5</ymax>";
  const std::string outside = "<xmin>-2</xmin><ymin>9</ymin><xmax>1e3</xmax><ymax>3</ymax>";
  const std::vector<std::string> annotations{xml(object(inside)), xml(object(outside) + object(inside)), xml(""),
                                             "<!-- no -->"};
  int number = 0;
  for (const EncodeOptions& how : hows) {
    for (const std::string& annotation : annotations) {
      write(folder / std::to_string(number), loader_input(number * 7, annotation, jpeg(9 + number % 8, 16, how)));
      ++number;
    }
  }
  write(folder / "thin", loader_input(0, annotations[0], jpeg(1, 9000, {})));
  write(folder / "high", loader_input(16, annotations[0], jpeg(9000, 1, {})));
}

// Of the kinds that our own decoder takes, whole and in part, on each instruction set.
void write_jpeg_seeds(const std::filesystem::path& folder) {
  const std::vector<EncodeOptions> hows{{},
                                        {.luma_h = 2},
                                        {.luma_v = 2},
                                        {.luma_h = 2, .luma_v = 2},
                                        {.colour = JpegColour::grey},
                                        {.colour = JpegColour::grey, .luma_h = 2, .luma_v = 2},
                                        {.quality = 30, .restart_mcus = 3},
                                        {.optimise = false},
                                        {.luma_h = 2, .luma_v = 2, .restart_mcus = 1, .optimise = false},
                                        {.quality = 3, .force_baseline = false},
                                        {.progressive = true}};
  int number = 0;
  for (const EncodeOptions& how : hows)
    for (const auto& [height, width] : {std::pair{8, 8}, {17, 35}, {40, 24}}) {
      const std::string head{static_cast<char>(number & 15), '\x20', '\x40', '\x60', '\x55'};
      write(folder / std::to_string(number++), head + jpeg(height, width, how));
    }
}

void write_config_seeds(const std::filesystem::path& folder) {
  const std::string config =
      R"({"data": {"handler": "h", "batch_size": 128, "train_filelist": "a.txt", "test_filelist": "b.txt", "shuffle_buffer": 20,)"
      R"("reshuffle_each_iteration": false, "num_parallel_readers": 4, "prefetch_buffer_size": 2, "crop_image_size": [224, 224],)"
      R"("num_classes": 1000, "num_channels": 3}})";
  const std::string list =
      "n01440764/n01440764_1.JPEG\r\n\n /d/Data/CLS-LOC/train/n01440764/n01440764_2.JPEG \nraccoon.jpg";
  write(folder / "whole", config + '\0' + list);
  write(folder / "empty", "{}" + std::string(1, '\0'));
  write(folder / "labels",
        R"({"data": {"batch_size": 1e3}})" + std::string(1, '\0') + "n01440764 tench\nn01443537 goldfish\ncat\n");
  write(folder / "tuning",
        "penstock tuning 1\ncpus 2\nmachine 2271560481 31\npipeline 3735928559 412\n"
        "knob 1 parallelism 32\nknob -1 prefetch 8\nend\n");
  write(folder / "unknown", R"({"data": {"shuffle": [1, "é", null]}})");
}

// The first byte is the limit, from 128 on in steps of 10,000; a letter from 0xf0 on is a long one.
void write_lines_seeds(const std::filesystem::path& folder) {
  write(folder / "ends", "\x7f\x01one\n\ntwo\r\nthree\rfour\r\r\n\n");
  write(folder / "limit",
        "\x03\x01"
        "abcd\nabcde\r\nabc\r\nabcde");
  write(folder / "chunks", "\xff\x20\xfe\xff\r\n\xff\n\xf3\xf1\xf0\r\n\xff\xff\xff");
  // "one\ntwo\n", as gzip(1) packs it
  constexpr std::string_view packed(
      "\x7f\x01\x1f\x8b\x08\x08\0\0\0\0\0\x03w.txt\0\xcb\xcfK\xe5*)\xcf\xe7\x02\0\xe6\x0b\xba\x12\x08\0\0\0", 36);
  write(folder / "packed", std::string(packed));
}

void write_checkpoint_seeds(const std::filesystem::path& folder) {
  const auto& all = penstock::fuzz::pipelines();
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto run = all[i].data.start({.serial = true});
    for (int taken = 0; taken < 3; ++taken) {
      auto checkpoint = run.checkpoint();
      const std::string name = std::to_string(i) + "-" + std::to_string(taken);
      write(folder / name, std::string{static_cast<char>(i), '\0'} + checkpoint.to_bytes());
      checkpoint.pipeline.clear();
      write(folder / (name + "-short"), std::string{static_cast<char>(i), '\1'} + checkpoint.to_bytes());
      penstock::fuzz::take_one(run);
    }
  }
}

// Save points behind the first elements, without the digest of the pipeline in front of them, as the target wants them.
void write_save_point_seeds(const std::filesystem::path& folder) {
  const auto& all = penstock::fuzz::saving_pipelines();
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto run = penstock::fuzz::saving_run(all[i]);
    for (int taken = 0; taken < 6; ++taken) {
      const auto checkpoint = run.checkpoint();
      const std::string_view point(checkpoint.save_point);
      const std::string_view body = point.substr(penstock::fuzz::digest_in(point).size());
      const std::string head{static_cast<char>(i), static_cast<char>(checkpoint.since_save_point)};
      write(folder / (std::to_string(i) + "-" + std::to_string(taken)), head + std::string(body));
      penstock::fuzz::take_one(run);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fuzz-seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder(arguments[1]);
  write_loader_seeds(folder / "loader");
  write_jpeg_seeds(folder / "jpeg");
  write_config_seeds(folder / "config");
  write_lines_seeds(folder / "lines");
  write_checkpoint_seeds(folder / "checkpoint");
  write_save_point_seeds(folder / "save_point");
}
