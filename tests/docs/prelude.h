// What the examples of the documentation take for given: the names that they use and do not declare, and the files that
// they read. code_examples.py puts this behind the examples that declare types (Example is fields.h's).
#pragma once

#include <penstock/image.h>
#include <penstock/imagenet.h>
#include <penstock/io.h>
#include <penstock/penstock.h>
#include <penstock/service_times.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

// Of a tensor of whole numbers: [[1, 2], [3, 0]]. Before the templates that print what holds tensors.
namespace examples {
inline std::string shown(const penstock::Tensor& tensor) {
  if (tensor.rank() == 0) return std::to_string(tensor.values<std::int32_t>()[0]);
  std::string text;
  for (std::int64_t i = 0; i < tensor.shape()[0]; ++i) text += (i == 0 ? "" : ", ") + shown(tensor.row(i));
  return "[" + text + "]";
}
}  // namespace examples

#include "tests/docs/runner.h"
#include "tests/support/pictures/encode_jpeg.h"

namespace examples {

namespace fs = std::filesystem;

// An op of the reader's own.
struct SplitWords final : ps::ElementwiseOp {
  std::string name() const override { return "split_words"; }
  ps::Flow flow(const ps::Flow&) const override { return {}; }
  void run(std::span<ps::Slot> slots, ps::Context&) const override {
    for (ps::Slot& slot : slots) slot.emit_many(words_of(slot.take<std::string>()));
  }
  static std::vector<ps::Element> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<ps::Element> words;
    for (std::string word; stream >> word;) words.emplace_back(std::move(word));
    return words;
  }
};

struct Captioned {
  ps::Tensor picture;
  std::string caption;
};

// A source of the reader's own: squares, as an IndexedSource and as any type with size() and at().
// An op of a user's with several inputs: one of each in turn.
struct InTurn final : ps::MergeOp {
  std::string name() const override { return "in_turn"; }
  ps::Flow flow_of(std::span<const ps::Flow>) const override { return {}; }
  std::unique_ptr<ps::MergeState> open(std::size_t inputs) const override { return std::make_unique<State>(inputs); }

  struct State final : ps::MergeState {
    explicit State(std::size_t count) : inputs(count) {}
    void begin_pass(const ps::Stamp&) override { next = 0; }
    ps::Want want() const override { return next < inputs ? ps::Want::one(next) : ps::Want::nothing(); }
    void take(std::size_t, ps::Slot&& slot, ps::Emitter& out) override {
      next = (next + 1) % inputs;
      out.forward(std::move(slot));
    }
    void ended(std::size_t, ps::Emitter&) override { next = inputs; }

    const std::size_t inputs;
    std::size_t next = 0;
  };
};

struct SquareTable {
  std::int64_t count;
  std::int64_t size() const { return count; }
  std::int64_t at(std::int64_t i) const { return i * i; }
};
struct Squares final : ps::IndexedSource {
  std::int64_t size() const override { return 10; }
  ps::Element at(std::int64_t i) const override { return ps::Element(i * i); }
};

// The files, in a new folder that is the current one while this lives.
class Files {
 public:
  Files() : back_(fs::current_path()), folder_(fs::temp_directory_path() / fs::path(make_name())) {
    for (const char* label : {"n01440764", "n01443537"}) write_class(label);
    fs::copy(folder_ / "ILSVRC/Data/CLS-LOC/train", folder_ / "train", fs::copy_options::recursive);
    for (const char* name : {"photos/a.png", "photos/train/cat/1.jpg", "photos/train/dog/1.jpg", "images/1.jpg"})
      write(name, grey_picture());
    write("annotations/1.xml", annotation_of("raccoon"));
    write("poem.txt", "roses are red\r\nviolets are blue\n");
    write("train.txt", "train/n01440764/n01440764_1.JPEG\ntrain/n01443537/n01443537_1.JPEG\n");
    fs::current_path(folder_);
  }
  ~Files() {
    fs::current_path(back_);
    fs::remove_all(folder_);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

 private:
  static std::string make_name() { return "penstock-examples-" + std::to_string(std::random_device()()); }
  void write(const std::string& name, std::string_view content) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  void write_class(const std::string& label) const {
    const std::string name = "CLS-LOC/train/" + label + "/" + label + "_1";
    write("ILSVRC/Data/" + name + ".JPEG", grey_picture());
    write("ILSVRC/Annotations/" + name + ".xml", annotation_of(label));
  }
  static std::string grey_picture() {
    const std::vector<std::uint8_t> pixels(375 * 500 * 3, 128);
    const auto jpeg = ps::pictures::encode_jpeg(pixels, 375, 500);
    return {reinterpret_cast<const char*>(jpeg.data()), jpeg.size()};
  }
  static std::string annotation_of(const std::string& name) {
    return "<annotation><size><width>500</width><height>375</height></size><object><name>" + name +
           "</name><bndbox><xmin>10</xmin><ymin>20</ymin><xmax>300</xmax><ymax>200</ymax></bndbox></object></"
           "annotation>";
  }

  fs::path back_, folder_;
};

// The names. Each example has its own object and folder, so that none meets what another one has left.
// A queue that somebody else fills.
struct Messages {
  std::optional<std::string> pop(const std::stop_token&) { return std::nullopt; }
};

struct Given {
  Files on_disk;
  Messages messages;

  // Files
  std::string path = "ILSVRC/Data/CLS-LOC/train/n01440764/n01440764_1.JPEG";
  std::vector<std::string> folders{"nowhere", "ILSVRC/Annotations/CLS-LOC/train/n01440764"};
  std::vector<std::string> folder_names{"n01440764", "n01443537"};

  // The reader's own functions
  static ps::Tensor read(const std::string& file) { return ps::read_file(file); }
  static std::vector<Example> decode(const ps::Tensor& file) {
    return {{ps::image::resize_bilinear(ps::image::view_of(pixels_of(file)), {8, 8}), 1}};
  }
  static ps::Dataset<std::int64_t> rows_of(const std::string&) { return ps::range(3); }
  static std::vector<std::int64_t> fetch_rows(const std::vector<std::int64_t>& positions) { return positions; }
  static ps::Tensor crop(const ps::Tensor& picture, int y, int x, bool mirrored) {
    const ps::Tensor part = ps::image::copy_of(ps::image::view_of(picture).window({y, x, 224, 224}));
    return mirrored ? ps::image::hflip(ps::image::view_of(part)) : part;
  }
  static ps::Tensor random_crop(const ps::Tensor& picture, ps::CounterRng rng) {
    return crop(picture, rng.uniform(0, 33), 0, false);
  }
  template <class... T> static void step(const T&...) {}
  static void log(const std::string&, const char*) {}
  ps::image::Uniform uniform = [] { return 0.5; };

  // Datasets, and what goes with them
  ps::World world;
  ps::imagenet::Config config{.labels = ps::LabelTable::from_names(folder_names)};
  ps::Dataset<std::string> paths = ps::from_file_list("train.txt");
  ps::Dataset<ps::Tensor> files = paths.map(read);
  ps::Dataset<ps::Tensor> pictures = files.map(pixels_of);
  ps::Dataset<std::string> lines = ps::from_vector<std::string>({"tea coffee", "tea"});
  ps::Dataset<std::string> captions = lines, web = lines, books = lines;
  ps::Dataset<Sentence> sentences = ps::from_vector<Sentence>({{{17, 4, 8}, 0}, {{5}, 1}});
  ps::Dataset<ps::Batch<Example>> train = files.map(decode).unbatch().batch(2);
  ps::Run<ps::Batch<Example>> run = train.start();

  // One picture in all its forms
  ps::Tensor jpeg = read(path), xml = read("annotations/1.xml");
  std::span<const std::byte> bytes = ps::image::bytes_of(jpeg);
  ps::Tensor pixels = pixels_of(jpeg);
  ps::image::ImageView view = ps::image::view_of(pixels);
  Example example{pixels, 1};

  static ps::Tensor pixels_of(const ps::Tensor& file) { return ps::image::decode_jpeg(ps::image::bytes_of(file)); }
};

}  // namespace examples
