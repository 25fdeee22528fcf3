#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/imagenet.h>
#include <penstock/io.h>
#include <penstock/sources.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "tests/support/examples.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::imagenet {
namespace {

using pictures::SampleSet;

Config config_of(double least_visible) {
  return {.labels = LabelTable::from_names({"thing0", "thing1"}),
          .size = {16, 24},
          .dtype = DType::u8,
          .least_visible = least_visible};
}

std::vector<ObjectExample> objects_of(const SampleSet& set, const Config& config, const RunOptions& options = {}) {
  std::vector<ObjectExample> all;
  auto run = from_vector(set.paths()).apply(load_objects(config)).start(options);
  while (auto example = run.next()) all.push_back(std::move(*example));
  return all;
}

std::vector<Example> pictures_of(const SampleSet& set, Config config) {
  config.labels = labels_of(set.paths());
  return test::collect(from_vector(set.paths()).apply(load_train(config)));
}

TEST(LoadObjects, ShowsThePicturesOfLoadTrain) {
  const SampleSet set(20);
  const auto objects = objects_of(set, config_of(0));
  const auto pictures = pictures_of(set, config_of(0));
  ASSERT_EQ(objects.size(), pictures.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(objects[i].image, pictures[i].image) << i;
    EXPECT_EQ(objects[i].file, pictures[i].file);
  }
}

// What Example::box says of the picture, applied to the corners by hand.
TEST(LoadObjects, MovesItsBoxesWithThePicture) {
  const SampleSet set(60);
  const auto found = objects_of(set, config_of(0));
  const auto pictures = pictures_of(set, config_of(0));
  std::size_t boxes = 0, mirrored = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string& path = set.paths()[static_cast<std::size_t>(found[i].file)];
    if (!std::filesystem::exists(set.annotation_of(path))) {
      EXPECT_TRUE(found[i].objects.empty());
      continue;
    }
    const VocAnnotation voc = parse_voc(read_file(set.annotation_of(path)));
    const auto [ymin, xmin, ymax, xmax] = pictures[i].box;
    std::size_t next = 0;
    for (std::size_t k = 0; k < voc.objects.size(); ++k) {
      const auto across = [&, left = xmin, right = xmax](double x) {
        return (x / static_cast<double>(voc.width) - left) / (right - left) * 24;
      };
      const auto down = [&, top = ymin, bottom = ymax](double y) {
        return (y / static_cast<double>(voc.height) - top) / (bottom - top) * 16;
      };
      const auto [left, right] = std::minmax(
          {std::clamp(across(voc.objects[k].xmin - 1), 0.0, 24.0), std::clamp(across(voc.objects[k].xmax), 0.0, 24.0)});
      const double top = std::clamp(down(voc.objects[k].ymin - 1), 0.0, 16.0),
                   bottom = std::clamp(down(voc.objects[k].ymax), 0.0, 16.0);
      if (right - left < 0.01 || bottom - top < 0.01) continue;
      ASSERT_LT(next, found[i].objects.size()) << i;
      const Object& object = found[i].objects[next++];
      EXPECT_EQ(object.label, static_cast<std::int32_t>(k));
      EXPECT_NEAR(object.box.xmin, left, 0.01) << i;
      EXPECT_NEAR(object.box.xmax, right, 0.01) << i;
      EXPECT_NEAR(object.box.ymin, top, 0.01) << i;
      EXPECT_NEAR(object.box.ymax, bottom, 0.01) << i;
      ++boxes;
      mirrored += xmin > xmax;
    }
    EXPECT_EQ(next, found[i].objects.size()) << i;
  }
  EXPECT_GT(boxes, 20u);
  EXPECT_GT(mirrored, 5u);
}

TEST(LoadObjects, LeavesOutWhatIsHardlySeen) {
  const SampleSet set(60);
  const auto count = [&](double least) {
    std::size_t boxes = 0;
    for (const ObjectExample& example : objects_of(set, config_of(least))) boxes += example.objects.size();
    return boxes;
  };
  const std::size_t all = count(0), most = count(0.5), whole = count(0.999);
  EXPECT_GT(all, most);
  EXPECT_GT(most, whole);
  EXPECT_GT(whole, 0u);
}

TEST(LoadObjects, KeepsTheNamesOfTheOthers) {
  const SampleSet set(200);
  const auto all = objects_of(set, config_of(0)), most = objects_of(set, config_of(0.9));
  int without_the_first = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto next = all[i].objects.begin();
    for (const Object& object : most[i].objects) {
      const auto same_box = [&](const Object& other) {
        return std::memcmp(&other.box, &object.box, sizeof object.box) == 0;
      };
      next = std::find_if(next, all[i].objects.end(), same_box);
      ASSERT_NE(next, all[i].objects.end()) << i;
      EXPECT_EQ(object.label, next->label) << i;
      without_the_first += next != all[i].objects.begin() && &object == &most[i].objects.front();
    }
  }
  EXPECT_GT(without_the_first, 0);
}

TEST(LoadObjects, RefusesNamesThatItDoesNotKnow) {
  const SampleSet set(6);
  Config config = config_of(0);
  config.labels = LabelTable::from_names({"thing0"});
  auto run = from_vector(set.paths()).apply(load_objects(config)).start({.on_error = skip_all()});
  while (run.next()) {
  }
  EXPECT_EQ(run.stats().errors, 2) << "those with a thing1";
}

TEST(LoadObjects, WritesPicturesIntoTheBatch) {
  const SampleSet set(30);
  auto run = from_vector(set.paths()).apply(load_objects(config_of(0))).batch(7).start({.threads = 2});
  std::int64_t pictures = 0;
  while (auto batch = run.next()) {
    EXPECT_EQ(batch->column<&ObjectExample::objects>().size(), static_cast<std::size_t>(batch->size()));
    pictures += batch->size();
  }
  EXPECT_EQ(pictures, 30);
  EXPECT_EQ(run.stats().copied_bytes, 0);
}

}  // namespace
}  // namespace penstock::imagenet
