// ALCF's ImageNet pipeline: each box of a picture's annotation, cut out and resized as TensorFlow does it.
//
//   imagenet_boxes FOLDER      with FOLDER/Data/CLS-LOC/train/n01440764/*.JPEG and FOLDER/Annotations/..., as ILSVRC
//                              has them
//
// Started by mpirun, srun or torchrun, each rank reads its own part. Files that cannot be read are left out, counted,
// and may be a hundred at most.
#include <penstock/imagenet.h>
#include <penstock/penstock.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace ps = penstock;

namespace {

using ps::imagenet::Example;

// What a training step would take: images f32 [n, 256, 256, 3] with their labels.
void step(const ps::Tensor& images, const std::vector<std::int32_t>& labels) {
  std::cout << "step: images " << ps::to_string(images.shape()) << ", first label " << labels.front() << '\n';
}

void print(const ps::imagenet::Counters& counted, const ps::RunStats& stats) {
  std::cout << "files " << counted.images << ", boxes " << counted.examples << ", without annotation "
            << counted.missing_annotations << ", skipped " << stats.skipped << '\n';
}

void run_epoch(const std::string& folder) {
  // Of a million files keep the list: ps::from_file_list("train.txt") reads it in a second.
  const auto paths = ps::imagenet::list_images(folder + "/Data");
  const auto counters = std::make_shared<ps::imagenet::Counters>();
  const ps::imagenet::Config config{
      .labels = ps::imagenet::labels_of(paths), .boxes = ps::BoxPolicy::clamp, .counters = counters};
  auto train = ps::from_vector(paths)
                   .shard(ps::World::detect())
                   .shuffle(200'000, {.seed = 7})
                   .apply(ps::imagenet::load_crops(config))  // a file's boxes: std::vector<Example>
                   .unbatch()                                // Example
                   .batch(128)                               // ps::Batch<Example>: a tensor for each field
                   .prefetch(ps::AUTOTUNE);
  auto run = train.start({.on_error = ps::skip_up_to(100)});
  for (const auto& batch : run.epoch(0)) step(batch.column<&Example::image>(), batch.column<&Example::label>());
  print(*counters, run.stats());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: imagenet_boxes FOLDER\n";
    return 2;
  }
  run_epoch(argv[1]);
} catch (const std::exception& error) {
  std::cerr << "imagenet_boxes: " << error.what() << '\n';
  return 1;
}
