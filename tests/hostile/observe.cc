#include "tests/hostile/observe.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "tests/support/examples.h"
#include "tests/support/pictures/sample_set.h"
#include "tests/support/unprivileged.h"

namespace penstock::hostile {
namespace {

namespace fs = std::filesystem;
using imagenet::Example;
using Examples = std::vector<Example>;

constexpr std::int64_t position = 2;  // of the hostile file among the good ones

Dataset<Example> load_all(const std::vector<std::string>& paths, const Mode& mode,
                          const std::shared_ptr<imagenet::Counters>& counters) {
  imagenet::Config config{.labels = imagenet::labels_of(paths), .size = {16, 12}, .counters = counters};
  if (mode.change) mode.change(config);
  if (mode.is_train) return from_vector(paths).apply(imagenet::load_train(config));
  if (!mode.boxes) return from_vector(paths).apply(imagenet::load_eval(config));
  config.boxes = *mode.boxes;
  return from_vector(paths).apply(imagenet::load_crops(config)).unbatch();
}

// Good pictures, and a hostile file among them.
class Scene {
 public:
  explicit Scene(const Input& input) : set_(5) {
    const fs::path folder = fs::path(set_.paths().front()).parent_path();
    const std::string picture = (folder / "n00000000_999.JPEG").string();
    const std::string annotation = set_.annotation_of(picture);
    fs::create_directories(fs::path(annotation).parent_path());
    test::let_all_read(set_.folder());
    input.make({picture, annotation});
    paths_ = set_.paths();
    paths_.insert(paths_.begin() + position, picture);
  }
  const std::vector<std::string>& all() const { return paths_; }
  // The same with a good file in the hostile one's place, so that the others have the same positions and random
  // numbers.
  std::vector<std::string> good() const {
    std::vector<std::string> paths = paths_;
    paths[position] = set_.paths().back();
    return paths;
  }
  const std::string& hostile() const { return paths_[position]; }

 private:
  pictures::SampleSet set_;
  std::vector<std::string> paths_;
};

// Without those of the hostile file, or of what stands in its place.
Examples neighbours(Examples all) {
  std::erase_if(all, [](const Example& example) { return example.file == position; });
  return all;
}

std::string counted(const imagenet::Counters& with, const imagenet::Counters& without, std::int64_t skipped) {
  std::string text = skipped > 0 ? "skipped " + std::to_string(skipped) : "delivered 1";
  const auto add = [&text](const char* name, std::int64_t count) {
    if (count > 0) text += std::string(", ") + name + " " + std::to_string(count);
  };
  add("damaged", with.damaged - without.damaged);
  add("clamped", with.clamped_boxes - without.clamped_boxes);
  add("missing XML", with.missing_annotations - without.missing_annotations);
  add("no box", with.without_examples - without.without_examples);
  return text;
}

// What is skipped, and that nothing else is.
std::string skip(const Scene& scene, const Mode& mode) {
  const auto without = std::make_shared<imagenet::Counters>(), with = std::make_shared<imagenet::Counters>();
  const Examples good = test::collect(load_all(scene.good(), mode, without));
  auto run = load_all(scene.all(), mode, with).start({.on_error = skip_all()});
  Examples all;
  while (auto example = run.next()) all.push_back(std::move(*example));
  test::expect_equal(neighbours(std::move(all)), neighbours(good));
  EXPECT_EQ(run.stats().errors, run.stats().skipped);
  return counted(*with, *without, run.stats().skipped);
}

// The error that ends a run, empty if none does.
Outcome stop(const Scene& scene, const Mode& mode) {
  try {
    test::collect(load_all(scene.all(), mode, nullptr), {.serial = true});
    return {"delivered", "", ""};
  } catch (const ElementError& error) {
    EXPECT_EQ(error.place().origin, scene.hostile());
    EXPECT_NE(std::string(error.what()).find(scene.hostile()), std::string::npos) << error.what();
    return {std::string(to_string(error.code())), "", error.what()};
  }
}

}  // namespace

Outcome load(const Input& input) {
  const Scene scene(input);
  std::unique_ptr<test::Unprivileged> scope;
  if (input.needs_no_rights) scope = std::make_unique<test::Unprivileged>();
  Outcome outcome = stop(scene, input.mode);
  outcome.counted = skip(scene, input.mode);
  return outcome;
}

Outcome expected(const Input& input) {
  const Fate& fate = input.fate;
  std::string counted = fate.code ? "skipped 1" : "delivered 1";
  if (!fate.counted.empty()) counted += ", " + fate.counted;
  return {fate.code ? std::string(to_string(*fate.code)) : "delivered", counted, fate.says};
}

}  // namespace penstock::hostile
