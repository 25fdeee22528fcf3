// ImageNet as a dataset: paths in, examples out. What ALCF's ILSVRC pipeline and the two usual
// training and evaluation pipelines do to a file, as transforms for Dataset::apply.
//
//   namespace ps = penstock;
//   using ps::imagenet::Example;
//   auto paths = ps::imagenet::list_images("ILSVRC/Data/CLS-LOC/train");
//   ps::imagenet::Config config{.labels = ps::imagenet::labels_of(paths)};
//   auto train = ps::from_vector(std::move(paths))
//                    .shuffle(200'000, {.seed = 7})
//                    .apply(ps::imagenet::load_crops(config))  // std::vector<Example>: a file's
//                    .unbatch()                                // Example: one for each box
//                    .batch(128)
//                    .prefetch(ps::AUTOTUNE);
//   for (auto&& batch : train)
//     step(batch.column<&Example::image>(),   // Tensor f32 [128, 256, 256, 3]
//          batch.column<&Example::label>());  // std::vector<std::int32_t>
//
// Each transform makes two maps: one that blocks (reads the file, and for load_crops its
// annotation) and one that computes (decodes and cuts). So both can be tuned apart, and no core
// waits for a disk. Both tell the engine beforehand how many bytes they will hold, so the memory budget is kept.
//
// Errors become error elements of the file they belong to: ElementError at the iterator, with the
// path; where an annotation is at fault, its path is named too. A missing annotation is no error: the
// whole image is taken, and counted.
//
//  cause                                       code
//  the JPEG cannot be read                     as read_file() in io.h
//  the JPEG cannot be decoded                  as decode_jpeg() in image/jpeg.h
//  the XML cannot be read, a box is refused    as parse_voc(), normalised_boxes() in voc.h
//  no label, or one that is not in the table   not_found
//  what Config::label_of throws                as it is
//
// Only the pixels that an example needs are decoded. Truncated files are noticed all the same; other damage below those
// pixels is not (image/jpeg.h): such a file gives its example.
//
// Everything here may be called from any number of threads.
#pragma once

#include <penstock/call_site.h>
#include <penstock/dataset.h>
#include <penstock/detail/pooled.h>
#include <penstock/image/boxes.h>
#include <penstock/image/convert.h>
#include <penstock/image/jpeg.h>
#include <penstock/image/view.h>
#include <penstock/labels.h>
#include <penstock/sources.h>
#include <penstock/tensor.h>
#include <penstock/tunable.h>
#include <penstock/voc.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::imagenet {

// One picture with its label.
struct Example {
  Tensor image;  // Config::dtype and layout: [height, width, 3] or [3, height, width]

  std::int32_t label = 0;  // number in Config::labels

  // Which part of the file's picture it shows: ymin, xmin, ymax, xmax. Of load_crops in the units
  // of crop_and_resize (0 and 1 are the centres of the first and last pixel); of load_train and
  // load_eval as shares of height and width. Where xmin > xmax the picture is mirrored.
  std::array<float, 4> box{0, 0, 1, 1};

  std::int64_t file = 0;  // position of its file in the source
};

// What a picture shows, as VOC's annotations tell it.
struct Object {
  std::int32_t label = 0;  // number of its name in Config::labels
  image::PixelBox box;     // in Example::image
};

// One picture with its objects, of which there may be any number.
struct ObjectExample {
  Tensor image;                 // as Example::image
  std::vector<Object> objects;  // in the order of the annotation
  std::int64_t file = 0;        // position of its file in the source
};

}  // namespace penstock::imagenet

template <> struct penstock::Fields<penstock::imagenet::Example> {
  using Example = penstock::imagenet::Example;
  static constexpr auto value = std::tuple{&Example::image, &Example::label, &Example::box, &Example::file};
};

template <> struct penstock::Fields<penstock::imagenet::ObjectExample> {
  using Example = penstock::imagenet::ObjectExample;
  static constexpr auto value = std::tuple{&Example::image, &Example::objects, &Example::file};
};

// Lists of a file's examples take their memory from where elements do, and give it back there. This is for every
// std::vector of Example in a program that includes this header, yours too.
template <>
class std::allocator<penstock::imagenet::Example>
    : public penstock::detail::PooledAllocator<penstock::imagenet::Example> {
 public:
  allocator() noexcept = default;
  template <class U> allocator(const std::allocator<U>&) noexcept {}
};

namespace penstock::imagenet {

// What happened to the files, over all runs that share the object. Counts only grow.
struct Counters {
  std::atomic<std::int64_t> files{0};                // that were to be read, whatever became of them
  std::atomic<std::int64_t> images{0};               // decoded
  std::atomic<std::int64_t> decoded_own{0};          // of these, by our own decoder; the others by libjpeg-turbo
  std::atomic<std::int64_t> examples{0};             // made of them
  std::atomic<std::int64_t> without_examples{0};     // decoded, but the annotation names no object
  std::atomic<std::int64_t> missing_annotations{0};  // files without XML that were taken whole
  std::atomic<std::int64_t> clamped_boxes{0};        // that BoxPolicy::clamp has cut, of files that were not refused
  std::atomic<std::int64_t> damaged{0};              // decoded, but libjpeg had to repair something
  std::atomic<std::int64_t> file_bytes{0};           // read, JPEG and XML

  // That our own decoder was asked for and did not take, whatever became of them; by image::Refusal, whose `none` stays
  // 0.
  std::array<std::atomic<std::int64_t>, image::refusal_count> refused{};
};

// The number of a picture's class. Called by several threads at once, for each file in each epoch: be quick. What it
// throws makes the file an error element.
using LabelOf = std::function<std::int32_t(const std::string& path)>;

struct Config {
  // The numbers of the labels. Must not be empty, unless there is label_of: see labels_of() and
  // LabelTable::from_file().
  LabelTable labels = {};

  // Where given, tells the labels instead, and `labels` is not looked at: for folders that are not ImageNet's
  // (image_folder()), or classes of your own. A checkpoint does not compare functions.
  //
  //   ps::imagenet::Config cats_and_dogs{.label_of = [](const std::string& path) { return path.find("/cat") !=
  //   path.npos ? 1 : 0; }};
  LabelOf label_of = nullptr;

  // Height and width of an example. 0 x 0: 256 x 256 for load_crops, 224 x 224 for load_train and load_eval.
  image::Size size = {};

  // f32, f16, bf16 or u8. load_crops gives 0..255 in all of them, rounded to nearest even;
  // load_train and load_eval give (x / 255 - mean) / deviation, but for u8 the pixels as they are.
  DType dtype = DType::f32;
  image::Layout layout = image::Layout::nhwc;  // of Example::image

  // Where the XML files are (annotation_paths() of voc.h). Empty: the sibling folder of ILSVRC's layout.
  std::string annotations = {};
  VocOptions voc = {};                  // `name` is not used: error texts have the XML's path
  BoxPolicy boxes = BoxPolicy::strict;  // of load_crops: what to do with boxes that leave the picture or are none

  // load_objects leaves boxes out of whose area less than this share is seen; 0: none at all.
  double least_visible = 0.1;

  // load_eval resizes the shorter side to this before it cuts out the centre.
  std::int64_t shorter_side = 256;

  // `name` is not used, error texts have the path. `simd` is for all image functions.
  image::DecodeOptions decode = {};

  Tunable read_parallelism = AUTOTUNE;    // files that are read at once
  Tunable decode_parallelism = AUTOTUNE;  // files that are decoded at once

  // Where given, counts what happens.
  std::shared_ptr<Counters> counters = nullptr;
};

// What the functions below return; for Dataset::apply. Each call of it gives a new description.
template <class T> using Transform = std::function<Dataset<T>(const Dataset<std::string>& paths)>;

// ALCF's pipeline: each box of the file's annotation cut out by crop_and_resize, bit for bit as
// TensorFlow does it; all boxes have the file's label. An annotation without objects gives an empty
// vector. What it costs stands in README.md, Figures.
//
// apply() throws GraphError, with the line of this call, for a config without labels, with a dtype other than the four,
// a size that is not positive or has 2^29 values or more, instructions that the machine lacks, or a parallelism below
// 1.
Transform<std::vector<Example>> load_crops(Config config, CallSite site = CallSite::here());

// Training: RandomResizedCrop (random_crop() of image/resize.h), mirrored with probability one
// half, resized as Pillow does, normalised. The random numbers are Context::rng()'s: new in each
// epoch, the same for any number of threads. GraphError as for load_crops.
Transform<Example> load_train(Config config, CallSite site = CallSite::here());

// Evaluation: shorter side to Config::shorter_side, centre cut out, normalised. GraphError as for load_crops, and for a
// shorter side below the size.
Transform<Example> load_eval(Config config, CallSite site = CallSite::here());

// Training to find objects: the picture as load_train makes it with the same seed, and the boxes of its annotation,
// which follow the crop and the mirroring (image::transform_boxes). Boxes of which less than Config::least_visible is
// left are left out; a picture without an annotation has none. Needs Config::labels, with all names that annotations
// use, else Error(not_found). GraphError as for load_train.
//
//   ps::imagenet::Config config{.labels = ps::LabelTable::from_names({"raccoon"}), .size = {300, 300}, .annotations =
//   "annotations"}; auto train = ps::list_files("images", {".jpg"}).shuffle(1'000, {.seed =
//   3}).apply(ps::imagenet::load_objects(config)).batch(8); for (auto&& batch : train)
//     for (const std::vector<ps::imagenet::Object>& objects : batch.column<&ps::imagenet::ObjectExample::objects>())
//       std::cout << objects.size() << " objects\n";
Transform<ObjectExample> load_objects(Config config, CallSite site = CallSite::here());

// All files *.jpeg and *.jpg below a folder, in upper case or lower: file_paths() of io.h, with its order and errors.
std::vector<std::string> list_images(const std::string& folder);

// Pictures in a folder for each class: the sub-folders' names, sorted, are the classes 0, 1, ... as for torchvision's
// ImageFolder. Files may lie deeper in them; what lies in the root itself is left out.
struct ImageFolder {
  std::vector<std::string> paths;  // sorted
  LabelTable classes;              // names of the sub-folders
  // of these paths, for Config. Error(invalid_argument) for one that does not begin with the root as it was given
  LabelOf label_of;
};

// Error(not_found) if there are no sub-folders, or one without pictures (*.jpeg, *.jpg): it would be a class that never
// comes; also the errors of list_images().
//
//   const ps::imagenet::ImageFolder folder = ps::imagenet::image_folder("photos/train");  // .../cat/1.jpg, .../dog/1.jpg
//   auto train = ps::from_vector(folder.paths)
//                    .shuffle(100'000, {.seed = 7})
//                    .apply(ps::imagenet::load_train({.label_of = folder.label_of}))
//                    .batch(32)
//                    .prefetch();
ImageFolder image_folder(const std::string& root);

// The table of all labels of these files, in sorted order (label_of_file() of labels.h). Where a
// path tells no label, the file's annotation is read, at about 15 us a file. Files without a label
// are left out here and fail when they are loaded.
LabelTable labels_of(std::span<const std::string> paths, const std::string& annotations = {});

}  // namespace penstock::imagenet

#pragma GCC visibility pop
