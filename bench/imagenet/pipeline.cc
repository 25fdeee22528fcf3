#include "bench/imagenet/pipeline.h"

#include <penstock/sources.h>
#include <penstock/world.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace penstock::bench {
namespace {

std::vector<std::string> paths_of(const ImagenetOptions& options) {
  if (options.file_list.empty()) return imagenet::list_images(options.data);
  std::vector<std::string> paths;
  auto run = from_file_list(options.file_list).start({.serial = true});
  while (auto path = run.next()) paths.push_back(std::move(*path));
  return paths;
}

LabelTable labels_for(const ImagenetOptions& options, const std::vector<std::string>& paths) {
  if (!options.labels.empty()) return LabelTable::from_file(options.labels);
  LabelTable labels = imagenet::labels_of(paths, options.annotations);
  if (labels.size() > 0) return labels;
  throw Error(ErrorCode::not_found,
              "none of the " + std::to_string(paths.size()) + " files has a label, '" + paths.front() +
                  "' for one: neither folder nor file name begin with a WordNet id such as "
                  "n01440764, and no annotation names an object (--annotations DIR, --labels FILE)");
}

void check_classes(const ImagenetOptions& options, const LabelTable& labels) {
  if (!options.num_classes || labels.size() <= *options.num_classes) return;
  throw Error(ErrorCode::invalid_argument, "there are " + std::to_string(labels.size()) +
                                               " labels, but num_classes in '--config' is " +
                                               std::to_string(*options.num_classes));
}

World world_of(const ImagenetOptions& options) {
  if (!options.horovod) return {};
  World world = World::detect();
  if (world.source == "none")
    throw Error(ErrorCode::failed_precondition,
                "--hvd: no launcher (horovodrun, mpirun, srun, torchrun) has told which process of "
                "how many this is");
  return world;
}

imagenet::Config config_of(const ImagenetOptions& options, const Files& files,
                           std::shared_ptr<imagenet::Counters> counters) {
  imagenet::Config config;
  config.labels = files.labels;
  config.size = options.crop;
  config.dtype = options.dtype;
  config.layout = options.layout.value_or(image::Layout::nhwc);
  config.annotations = options.annotations;
  config.boxes = options.boxes;
  config.decode.dct = options.dct;
  config.decode.decoder = options.without.own ? image::Decoder::libjpeg : options.decoder;
  config.decode.simd = options.without.simd ? image::Simd::scalar : options.simd;
  config.read_parallelism = options.open_io;
  config.decode_parallelism = options.parallel;
  config.counters = std::move(counters);
  return config;
}

Dataset<imagenet::Example> examples_of(const Dataset<std::string>& paths, Workload workload, imagenet::Config config,
                                       imagenet::FastPath fast) {
  switch (workload) {
    case Workload::boxes: return paths.apply(imagenet::load_crops(std::move(config), fast)).unbatch();
    case Workload::train: return paths.apply(imagenet::load_train(std::move(config), fast));
    case Workload::eval: break;
  }
  return paths.apply(imagenet::load_eval(std::move(config), fast));
}

// shuffle before shard: every rank draws the same order and takes another part of it, so the ranks'
// files change each epoch.
Dataset<std::string> ordered(const Dataset<std::string>& paths, const ImagenetOptions& options, FileOrder order) {
  if (order == FileOrder::listed) return paths.repeat(options.passes);
  const auto shuffled =
      paths.shuffle(options.shuffle_buffer, {.seed = options.seed, .reshuffle_each_epoch = options.reshuffle});
  return options.horovod ? shuffled.shard(world_of(options)) : shuffled;
}

}  // namespace

Files find_files(const ImagenetOptions& options) {
  Files files;
  files.ranks = world_of(options).size;
  files.paths = paths_of(options);
  files.labels = labels_for(options, files.paths);
  check_classes(options, files.labels);
  return files;
}

SampleBatches make_pipeline(const ImagenetOptions& options, const Files& files, FileOrder order,
                            std::shared_ptr<imagenet::Counters> counters) {
  const auto paths = ordered(from_vector(files.paths), options, order);
  return examples_of(paths, options.workload, config_of(options, files, std::move(counters)), options.without.fast)
      .batch(options.batch)
      .prefetch(options.prefetch);
}

RunOptions run_options(const ImagenetOptions& options) {
  RunOptions run;
  run.threads = options.threads;
  run.memory_bytes = options.memory_bytes;
  if (!options.open_io.is_automatic())
    run.open_io = static_cast<int>(std::min<std::int64_t>(options.open_io.high(), 256));
  run.epochs = static_cast<std::uint32_t>(options.epochs);
  run.seed = options.seed;
  run.on_error = options.on_error;
  run.serial = options.serial;
  run.trace = options.trace_file;
  return run;
}

}  // namespace penstock::bench
