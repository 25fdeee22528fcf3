#include "bench/imagenet/straightforward.h"

#include <penstock/image/resize.h>
#include <penstock/imagenet.h>
#include <penstock/random.h>
#include <penstock/voc.h>
#include <tinyxml2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/imagenet/full_decode.h"
#include "bench/imagenet/option_values.h"
#include "bench/imagenet/unit.h"
#include "bench/meter.h"

namespace penstock::bench {
namespace {

struct Picture {
  std::vector<std::uint8_t> pixels;
  std::size_t height = 0, width = 0;

  const std::uint8_t* at(std::size_t y, std::size_t x) const { return &pixels[3 * (y * width + x)]; }
};

struct FloatBox {
  float ymin = 0, xmin = 0, ymax = 1, xmax = 1;
};

std::vector<char> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<char> bytes(static_cast<std::size_t>(file.tellg()));
  file.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw std::runtime_error("cannot read " + path);
  return bytes;
}

Picture decode(const std::string& path) {
  const std::vector<char> bytes = read(path);
  FullDecode decoder;
  if (!decoder.decode(std::as_bytes(std::span(bytes)))) throw std::runtime_error("cannot decode " + path);
  return {decoder.take_pixels(), decoder.height(), decoder.width()};
}

float number(const tinyxml2::XMLElement* parent, const char* name) {
  const tinyxml2::XMLElement* child = parent == nullptr ? nullptr : parent->FirstChildElement(name);
  if (child == nullptr) throw std::runtime_error(std::string("an annotation lacks ") + name);
  return child->FloatText();
}

std::vector<FloatBox> boxes_of(const std::string& picture, const std::string& annotations) {
  std::string path;
  for (const std::string& candidate : annotation_paths(picture, annotations))
    if (path.empty() && std::filesystem::exists(candidate)) path = candidate;
  if (path.empty()) return {FloatBox{}};
  tinyxml2::XMLDocument document;
  if (document.LoadFile(path.c_str()) != tinyxml2::XML_SUCCESS) throw std::runtime_error("cannot parse " + path);
  const tinyxml2::XMLElement* root = document.RootElement();
  const tinyxml2::XMLElement* size = root->FirstChildElement("size");
  const float height = number(size, "height") - 1, width = number(size, "width") - 1;
  std::vector<FloatBox> boxes;
  for (auto* object = root->FirstChildElement("object"); object != nullptr;
       object = object->NextSiblingElement("object")) {
    const tinyxml2::XMLElement* box = object->FirstChildElement("bndbox");
    boxes.push_back({number(box, "ymin") / height, number(box, "xmin") / width, number(box, "ymax") / height,
                     number(box, "xmax") / width});
  }
  return boxes;
}

// TensorFlow's loop (crop_and_resize_op.cc), pixel by pixel.
std::vector<float> crop_and_resize(const Picture& from, const FloatBox& box, std::size_t n) {
  std::vector<float> out(n * n * 3);
  const auto bottom = static_cast<float>(from.height - 1), right = static_cast<float>(from.width - 1);
  const auto steps = static_cast<float>(n - 1);
  const float height_scale = (box.ymax - box.ymin) * bottom / steps;
  const float width_scale = (box.xmax - box.xmin) * right / steps;
  for (std::size_t y = 0; y < n; ++y) {
    const float in_y = box.ymin * bottom + static_cast<float>(y) * height_scale;
    if (in_y < 0 || in_y > bottom) continue;
    const auto top = static_cast<std::size_t>(std::floor(in_y)), low = static_cast<std::size_t>(std::ceil(in_y));
    const float y_share = in_y - std::floor(in_y);
    for (std::size_t x = 0; x < n; ++x) {
      const float in_x = box.xmin * right + static_cast<float>(x) * width_scale;
      if (in_x < 0 || in_x > right) continue;
      const auto left = static_cast<std::size_t>(std::floor(in_x)), far = static_cast<std::size_t>(std::ceil(in_x));
      const float x_share = in_x - std::floor(in_x);
      for (std::size_t c = 0; c < 3; ++c) {
        const float top_left = from.at(top, left)[c], top_right = from.at(top, far)[c];
        const float low_left = from.at(low, left)[c], low_right = from.at(low, far)[c];
        const float above = top_left + (top_right - top_left) * x_share;
        const float below = low_left + (low_right - low_left) * x_share;
        out[3 * (y * n + x) + c] = above + (below - above) * y_share;
      }
    }
  }
  return out;
}

struct Tap {
  std::size_t first = 0;
  std::vector<float> weights;
};

// The triangle filter, which grows with the scale.
std::vector<Tap> taps(std::size_t from, std::size_t to) {
  std::vector<Tap> all(to);
  const double scale = static_cast<double>(from) / static_cast<double>(to), reach = std::max(scale, 1.0);
  for (std::size_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    all[i].first = static_cast<std::size_t>(std::max(0.0, centre - reach + 0.5));
    const auto end = std::min(from, static_cast<std::size_t>(centre + reach + 0.5));
    double sum = 0;
    for (std::size_t x = all[i].first; x < end; ++x) {
      all[i].weights.push_back(
          static_cast<float>(std::max(0.0, 1 - std::abs((static_cast<double>(x) - centre + 0.5) / reach))));
      sum += all[i].weights.back();
    }
    for (float& weight : all[i].weights) weight = static_cast<float>(weight / sum);
  }
  return all;
}

// Sums of the triangle's weights are never negative.
std::uint8_t rounded(float value) { return static_cast<std::uint8_t>(std::min(value + 0.5F, 255.0F)); }

Picture cut(const Picture& from, std::size_t y, std::size_t x, std::size_t height, std::size_t width) {
  Picture part{std::vector<std::uint8_t>(3 * height * width), height, width};
  for (std::size_t row = 0; row < height; ++row)
    std::copy_n(from.at(y + row, x), 3 * width, &part.pixels[3 * row * width]);
  return part;
}

Picture resize(const Picture& from, std::size_t height, std::size_t width) {
  const std::vector<Tap> columns = taps(from.width, width), rows = taps(from.height, height);
  Picture narrow{std::vector<std::uint8_t>(3 * from.height * width), from.height, width};
  for (std::size_t y = 0; y < from.height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      float sums[3] = {};
      const std::uint8_t* pixel = from.at(y, columns[x].first);
      for (const float weight : columns[x].weights) {
        for (std::size_t c = 0; c < 3; ++c) sums[c] += weight * static_cast<float>(pixel[c]);
        pixel += 3;
      }
      for (std::size_t c = 0; c < 3; ++c) narrow.pixels[3 * (y * width + x) + c] = rounded(sums[c]);
    }
  Picture out{std::vector<std::uint8_t>(3 * height * width), height, width};
  for (std::size_t y = 0; y < height; ++y) {
    std::vector<float> sums(3 * width);
    const std::uint8_t* value = narrow.at(rows[y].first, 0);
    for (const float weight : rows[y].weights)
      for (float& sum : sums) sum += weight * static_cast<float>(*value++);
    std::transform(sums.begin(), sums.end(), &out.pixels[3 * y * width], rounded);
  }
  return out;
}

Picture mirror(const Picture& from) {
  Picture out{std::vector<std::uint8_t>(from.pixels.size()), from.height, from.width};
  for (std::size_t y = 0; y < from.height; ++y)
    for (std::size_t x = 0; x < from.width; ++x)
      std::copy_n(from.at(y, from.width - 1 - x), 3, &out.pixels[3 * (y * from.width + x)]);
  return out;
}

std::vector<float> normalise(const Picture& from) {
  const auto& mean = image::Normaliser::imagenet_mean;
  const auto& deviation = image::Normaliser::imagenet_deviation;
  const std::size_t plane = from.height * from.width;
  std::vector<float> out(3 * plane);
  for (std::size_t i = 0; i < plane; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      out[c * plane + i] = (static_cast<float>(from.pixels[3 * i + c]) / 255.0F - mean[c]) / deviation[c];
  return out;
}

std::vector<float> train_sample(const Picture& picture, CounterRng& random) {
  const image::Size whole{static_cast<std::int64_t>(picture.height), static_cast<std::int64_t>(picture.width)};
  const image::Window window = image::random_crop(whole, [&random] { return random.uniform(); });
  const Picture part = cut(picture, static_cast<std::size_t>(window.y), static_cast<std::size_t>(window.x),
                           static_cast<std::size_t>(window.height), static_cast<std::size_t>(window.width));
  const Picture resized = resize(part, 224, 224);
  return normalise(random.uniform() < 0.5 ? mirror(resized) : resized);
}

std::vector<float> eval_sample(const Picture& picture) {
  const std::size_t shorter = std::min(picture.height, picture.width);
  const Picture resized = resize(picture, 256 * picture.height / shorter, 256 * picture.width / shorter);
  return normalise(cut(resized, (resized.height - 224) / 2, (resized.width - 224) / 2, 224, 224));
}

// Two in turn, as in a loop that fills one while the other is in use. Their memory is there from the beginning.
class Batches {
 public:
  Batches(std::size_t samples, std::size_t values)
      : most_(samples), batches_(2, std::vector<float>(samples * values)) {}

  void add(const std::vector<float>& sample) {
    std::copy(sample.begin(), sample.end(), &batches_[closed_ % 2][filled_ * sample.size()]);
    ++samples_;
    if (++filled_ == most_) close();
  }
  // Also at the end of an epoch.
  void close() {
    if (filled_ > 0) ++closed_;
    filled_ = 0;
  }
  void restart() { samples_ = closed_ = 0; }

  std::size_t samples() const { return samples_; }
  std::size_t batches() const { return closed_; }

 private:
  std::size_t most_;
  std::size_t filled_ = 0, closed_ = 0, samples_ = 0;
  std::vector<std::vector<float>> batches_;
};

void add_samples(const std::string& path, const ImagenetOptions& options, CounterRng& random, Batches& to) {
  if (options.workload == Workload::train) return to.add(train_sample(decode(path), random));
  if (options.workload == Workload::eval) return to.add(eval_sample(decode(path)));
  const std::vector<FloatBox> boxes = boxes_of(path, options.annotations);
  const Picture picture = decode(path);
  for (const FloatBox& box : boxes) to.add(crop_and_resize(picture, box, 256));
}

void run_epoch(const std::vector<std::string>& paths, const ImagenetOptions& options, std::int64_t epoch, Batches& to) {
  CounterRng random = make_rng(options.seed, static_cast<std::uint32_t>(epoch), 0, 0);
  for (const std::string& path : paths) add_samples(path, options, random, to);
  to.close();
}

Cost run_epochs(const std::vector<std::string>& paths, const ImagenetOptions& options, Batches& to) {
  to.restart();
  const Meter meter;
  for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) run_epoch(paths, options, epoch, to);
  return meter.stop();
}

void print_line(const ImagenetOptions& options, std::size_t images, const Batches& batches, const Cost& cost,
                double unit) {
  const auto count = static_cast<double>(images);
  const nlohmann::ordered_json line{{"program", "penstock-imagenet"},
                                    {"straightforward", true},
                                    {"workload", to_string(options.workload)},
                                    {"images", images},
                                    {"samples", batches.samples()},
                                    {"batches", batches.batches()},
                                    {"wall_s", cost.wall_s},
                                    {"cpu_s", cost.cpu_s},
                                    {"images_per_s", count / cost.wall_s},
                                    {"images_per_cpu_s", count / cost.cpu_s},
                                    {"foreign_cores", cost.foreign_cores},
                                    {"full_decode_images_per_s", unit},
                                    {"full_decode_ratio", count / cost.cpu_s / unit}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int run_straightforward(const ImagenetOptions& options) {
  const std::vector<std::string> paths = imagenet::list_images(options.data);
  const std::size_t side = options.workload == Workload::boxes ? 256 : 224;
  Batches batches(static_cast<std::size_t>(options.batch), 3 * side * side);
  Unit unit(paths);
  run_epoch(paths, options, 0, batches);  // not timed: fills the page cache
  for (std::int64_t i = 0; i < options.repetitions; ++i) {
    const double before = unit.images_per_s();
    const Cost cost = run_epochs(paths, options, batches);
    const auto images = paths.size() * static_cast<std::size_t>(options.epochs);
    print_line(options, images, batches, cost, (before + unit.images_per_s()) / 2);
  }
  return 0;
}

}  // namespace penstock::bench
