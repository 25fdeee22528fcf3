#include <penstock/imagenet.h>

#include <algorithm>
#include <utility>

#include "ops/imagenet/decode_op.h"
#include "ops/imagenet/read_op.h"

namespace penstock::imagenet {
namespace {

Error wrong(const std::string& reason) {
  return Error(ErrorCode::invalid_argument, "imagenet::Config: " + reason);
}

void check(const Config& config) {
  if (config.labels.size() == 0)
    throw wrong("labels is empty; take labels_of(paths) or LabelTable::from_file(path)");
  if (!config.size.is_possible())
    throw wrong("size must be positive and below 2^29 values, but is " +
                std::to_string(config.size.height) + " x " + std::to_string(config.size.width));
  const DType type = config.dtype;
  if (type != DType::f32 && type != DType::f16 && type != DType::bf16 && type != DType::u8)
    throw wrong("dtype must be f32, f16, bf16 or u8, but is " + std::string(to_string(type)));
}

std::shared_ptr<const Config> checked(Config config, image::Size default_size) {
  if (config.size == image::Size{}) config.size = default_size;
  check(config);
  return std::make_shared<const Config>(std::move(config));
}

template <class T>
Transform<T> two_maps(OpRef read, OpRef compute, CallSite site) {
  return [read = std::move(read), compute = std::move(compute),
          site](const Dataset<std::string>& paths) {
    return paths.then<LoadedFile>(read, site).template then<T>(compute, site);
  };
}

}  // namespace

Transform<std::vector<Example>> load_crops(Config config, CallSite site) {
  const auto shared = checked(std::move(config), {256, 256});
  return two_maps<std::vector<Example>>(read_op(shared, Annotations::all), crop_op(shared), site);
}

Transform<Example> load_train(Config config, CallSite site) {
  const auto shared = checked(std::move(config), {224, 224});
  return two_maps<Example>(read_op(shared, Annotations::where_path_has_no_label), train_op(shared),
                           site);
}

Transform<Example> load_eval(Config config, CallSite site) {
  const auto shared = checked(std::move(config), {224, 224});
  const std::int64_t longer = std::max(shared->size.height, shared->size.width);
  if (shared->shorter_side < longer)
    throw wrong("shorter_side must be at least the size of the crop, " + std::to_string(longer) +
                ", but is " + std::to_string(shared->shorter_side));
  if (!image::Size{shared->shorter_side, 1}.is_possible())
    throw wrong("shorter_side must be below 2^29 / 3, but is " +
                std::to_string(shared->shorter_side));
  return two_maps<Example>(read_op(shared, Annotations::where_path_has_no_label), eval_op(shared),
                           site);
}

}  // namespace penstock::imagenet
