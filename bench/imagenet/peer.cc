#include "bench/imagenet/peer.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/imagenet/repetition.h"

namespace penstock::bench {
namespace {

using Json = nlohmann::ordered_json;

void say(const Json& message) {
  std::printf("%s\n", message.dump().c_str());
  std::fflush(stdout);
}

const char* peer_name(Workload workload) {
  switch (workload) {
    case Workload::boxes: return "W1";
    case Workload::train: return "W2";
    case Workload::eval: break;
  }
  return "W3";
}

// As the other peers deliver it.
ImagenetOptions as_peer(ImagenetOptions options) {
  if (!options.layout) options.layout = options.workload == Workload::boxes ? image::Layout::nhwc : image::Layout::nchw;
  options.epochs = 1;
  options.quiet = true;
  return options;
}

// f32 is "float32" to the driver.
std::string numpy_name(DType type) {
  switch (type) {
    case DType::u8: return "uint8";
    case DType::f16: return "float16";
    case DType::bf16: return "bfloat16";
    default: return "float32";
  }
}

void say_first_batch(const SampleBatch& batch) {
  const Tensor& images = batch.column<&imagenet::Example::image>();
  say({{"event", "first_batch"}, {"shape", images.shape()}, {"dtype", numpy_name(images.dtype())}});
}

}  // namespace

int run_peer(const ImagenetOptions& given) {
  const ImagenetOptions options = as_peer(given);
  const Files files = find_files(options);
  Bench bench(options, files, FileOrder::listed);
  Progress progress(true);
  say({{"event", "ready"}});
  RepetitionSettings settings{.on_first = say_first_batch};
  for (std::string line; std::getline(std::cin, line);) {
    const Measurement m = bench.run(settings, progress);
    settings.on_first = nullptr;
    say({{"workload", peer_name(options.workload)},
         {"images", m.images},
         {"wall_s", m.wall_s},
         {"cpu_s", m.cpu_s},
         {"samples", m.samples}});
  }
  return 0;
}

}  // namespace penstock::bench
