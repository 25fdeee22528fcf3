#include <penstock/imagenet.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lib/graph/arguments.h"
#include "ops/imagenet/decode_op.h"
#include "ops/imagenet/fast_path.h"
#include "ops/imagenet/read_op.h"

namespace penstock::imagenet {
namespace {

using ConfigRef = std::shared_ptr<const Config>;

Error wrong(const std::string& member, const std::string& reason) {
  return Error(ErrorCode::invalid_argument, "Config::" + member + reason);
}

bool is_pixel_type(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || type == DType::u8;
}

void check(const Config& config) {
  if (config.labels.size() == 0 && !config.label_of)
    throw wrong("labels", " is empty; take labels_of(paths) or LabelTable::from_file(path), or give Config::label_of");
  if (!config.size.is_possible())
    throw wrong("size", " must be positive and below 2^29 values, but is " + std::to_string(config.size.height) +
                            " x " + std::to_string(config.size.width));
  if (!is_pixel_type(config.dtype))
    throw wrong("dtype", " must be f32, f16, bf16 or u8, but is " + std::string(to_string(config.dtype)));
  const image::Simd simd = config.decode.simd;
  const std::vector<image::Simd> here = image::supported_simd();
  if (simd != image::Simd::automatic && std::find(here.begin(), here.end(), simd) == here.end())
    throw wrong("decode.simd",
                " must be one that this machine has, but is " + std::string(to_string(simd)) + "; take automatic");
  graph::check_tunable("Config::read_parallelism", config.read_parallelism, 1);
  graph::check_tunable("Config::decode_parallelism", config.decode_parallelism, 1);
}

void check_eval(const Config& config) {
  check(config);
  const std::int64_t longer = std::max(config.size.height, config.size.width);
  if (config.shorter_side < longer)
    throw wrong("shorter_side", " must be at least the size of the crop, " + std::to_string(longer) + ", but is " +
                                    std::to_string(config.shorter_side));
  if (!image::Size{config.shorter_side, 1}.is_possible())
    throw wrong("shorter_side", " must be below 2^29 / 3, but is " + std::to_string(config.shorter_side));
}

void check_objects(const Config& config) {
  check(config);
  if (config.labels.size() == 0)
    throw wrong("labels", " is empty; load_objects needs the names of all objects: LabelTable::from_names({...})");
  if (!(config.least_visible >= 0 && config.least_visible <= 1))
    throw wrong("least_visible", " must lie in 0..1, but is " + std::to_string(config.least_visible));
}

ConfigRef with_size(Config config, image::Size default_size) {
  if (config.size == image::Size{}) config.size = default_size;
  return std::make_shared<const Config>(std::move(config));
}

// Checks where the maps are put into a chain: only there is their place known, which the error has to tell.
template <class T, class Check>
Transform<T> two_maps(const char* name, Check check_config, OpRef read, OpRef compute, CallSite site) {
  return [=](const Dataset<std::string>& paths) {
    const auto checked_read = [&] {
      check_config();
      return read;
    };
    const Dataset<LoadedFile> files(graph::build(paths.node(), name, site, checked_read));
    return files.template then<T>(compute, site);
  };
}

}  // namespace

Transform<std::vector<Example>> load_crops(Config config, CallSite site) {
  return load_crops(std::move(config), FastPath{}, site);
}

Transform<std::vector<Example>> load_crops(Config config, FastPath fast, CallSite site) {
  const ConfigRef shared = with_size(std::move(config), {256, 256});
  return two_maps<std::vector<Example>>(
      "load_crops", [shared] { check(*shared); }, read_op(shared, Annotations::all), crop_op(shared, fast), site);
}

Transform<Example> load_train(Config config, CallSite site) { return load_train(std::move(config), FastPath{}, site); }

Transform<Example> load_train(Config config, FastPath fast, CallSite site) {
  const ConfigRef shared = with_size(std::move(config), {224, 224});
  return two_maps<Example>(
      "load_train", [shared] { check(*shared); }, read_op(shared, Annotations::where_path_has_no_label),
      train_op(shared, fast), site);
}

Transform<ObjectExample> load_objects(Config config, CallSite site) {
  const ConfigRef shared = with_size(std::move(config), {224, 224});
  return two_maps<ObjectExample>(
      "load_objects", [shared] { check_objects(*shared); }, read_op(shared, Annotations::all_as_they_are),
      objects_op(shared), site);
}

Transform<Example> load_eval(Config config, CallSite site) { return load_eval(std::move(config), FastPath{}, site); }

Transform<Example> load_eval(Config config, FastPath fast, CallSite site) {
  const ConfigRef shared = with_size(std::move(config), {224, 224});
  return two_maps<Example>(
      "load_eval", [shared] { check_eval(*shared); }, read_op(shared, Annotations::where_path_has_no_label),
      eval_op(shared, fast), site);
}

}  // namespace penstock::imagenet
