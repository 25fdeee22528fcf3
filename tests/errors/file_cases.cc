// Files that cannot be read, pictures that cannot be decoded, labels that are not there.
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <tuple>

#include "tests/errors/catalogue.h"
#include "tests/hostile/pictures.h"
#include "tests/support/file_contents.h"
#include "tests/support/unprivileged.h"

namespace penstock::errors {

struct Both {
  int a = 0, b = 0;
};

}  // namespace penstock::errors

template <> struct penstock::Fields<penstock::errors::Both> {
  static constexpr auto value = std::tuple{&penstock::errors::Both::a, &penstock::errors::Both::b};
};

namespace penstock::errors {
namespace {

namespace fs = std::filesystem;
using hostile::jpeg;

// The process may open no further file.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

void read_one(const std::string& path, const ReadFileOptions& options = {}) {
  read(from_vector(std::vector{path}).map([options](const std::string& file) { return read_file(file, options); }),
       {.serial = true});
}

Cases reading_cases(const std::string& folder) {
  const std::string file = write(folder + "/a.txt", "text"), shut = write(folder + "/shut.txt", "text");
  fs::permissions(shut, fs::perms::none);
  fs::create_symlink("circle", folder + "/circle");
  ::mkfifo((folder + "/pipe").c_str(), 0600);
  return {
      {"read_file of a file that is not there", [=] { read_one(folder + "/no.txt"); }},
      {"read_file of a file in a file", [=] { read_one(file + "/b.txt"); }},
      {"read_file of a folder", [=] { read_one(folder); }},
      {"read_file of a pipe", [=] { read_one(folder + "/pipe"); }},
      {"read_file of links in a circle", [=] { read_one(folder + "/circle"); }},
      {"read_file of a name of 300 letters", [=] { read_one(folder + "/" + std::string(300, 'x')); }},
      {"read_file of a file above the limit", [=] { read_one(file, {.max_bytes = 3}); }},
      {"read_file without the right to",
       [=] {
         const test::Unprivileged scope;
         read_one(shut);
       }},
      {"read_file with too many open files",
       [=] {
         const NoMoreFiles scope;
         read_one(file);
       }},
      {"read_file where the disk fails", [=] { read_one("/proc/self/mem"); }},
  };
}

void read_lines(const std::string& path, const LinesOptions& options = {}) {
  read(lines(path, options), {.serial = true});
}

Cases lines_cases(const std::string& folder) {
  return {
      {"lines of a file that is not there", [=] { read_lines(folder + "/no.txt"); }},
      {"lines of a folder", [=] { read_lines(folder); }},
      {"lines of which one is too long",
       [=] { read_lines(write(folder + "/long.txt", "short\nlonger\n"), {.max_line_bytes = 5}); }},
      {"lines of a file that is packed, and damaged",
       [=] { read_lines(write(folder + "/a.txt.gz", "\x1f\x8b\x08 and more")); }},
      {"lines where the disk fails", [] { read_lines("/proc/self/mem"); }},
  };
}

imagenet::Config config() { return {.labels = LabelTable::from_names({"n00000001"}), .size = {8, 8}}; }

// Loads a picture with these bytes.
std::function<void()> load_eval(const std::string& folder, const std::string& bytes,
                                const std::string& name = "n00000001/a.JPEG") {
  return [=] {
    const std::string path = write(folder + "/Data/" + name, bytes);
    read(from_vector(std::vector{path}).apply(imagenet::load_eval(config())));
  };
}

// Bytes that have been written as one type, read as another.
template <class Read, class Written> void read_as(const Written& value) {
  std::vector<std::byte> bytes;
  ByteWriter(bytes).write(value);
  ByteReader(bytes).read<Read>();
}

Cases cache_cases(const std::string& folder) {
  const std::string path = folder + "/numbers.cache", older = folder + "/older.cache";
  read(range(3).cache(path));
  std::string bytes = test::file_contents(path);
  bytes[8] = 0;
  write(older, bytes);
  const auto tensor_of = [](std::int64_t size) { return std::tuple(std::uint8_t{0}, std::vector{size}); };
  return {
      {"cache in a file of elements of another type", [=] { read(range(3).batch(2).cache(path)); }},
      {"cache in a file of another version", [=] { read(range(3).cache(older)); }},
      {"a codec that reads more than there is", [] { read_as<std::string>(std::int64_t{10}); }},
      {"a batch whose columns differ in length",
       [] {
         read_as<Batch<Both>>(std::tuple(std::int64_t{1}, std::vector{1}, std::vector{1, 2}));
       }},
      {"a ragged batch whose rows end elsewhere",
       [] {
         read_as<Ragged<std::vector<int>>>(Ragged<std::vector<int>>{{1, 2}, {0, 1}});
       }},
      {"a tensor of bytes that are none", [] { read_as<Tensor>(std::uint8_t{200}); }},
      {"a tensor of fewer bytes than it says", [=] { read_as<Tensor>(tensor_of(1'000'000)); }},
      {"a tensor of less than nothing", [=] { read_as<Tensor>(tensor_of(-1)); }},
  };
}

std::string damaged(std::string bytes) {
  bytes[40] ^= 1;
  return bytes;
}

Cases checkpoint_cases(const std::string& folder) {
  const std::string path = folder + "/train.ckpt";
  return {
      {"load_checkpoint of a damaged one", [=] { load_checkpoint(write(path, "PENSTCKP")); }},
      {"load_checkpoint of another file", [=] { load_checkpoint(write(path, std::string(3 << 20, 'x'))); }},
      {"load_checkpoint of a folder", [=] { load_checkpoint(folder); }},
      {"save_checkpoint in a folder that is not there",
       [=] { save_checkpoint(folder + "/none/train.ckpt", range(3).start()); }},
  };
}

Cases saved_cases(const std::string& folder) {
  const std::string path = folder + "/numbers.saved", broken = folder + "/broken.saved";
  save(range(3), path);
  const Saved<std::int64_t> saved(path);
  return {
      {"load of a file that is not there", [=] { load<int>(folder + "/none.saved"); }},
      {"load of elements of another type", [=] { load<std::string>(path); }},
      {"load of an element that is not there", [=] { read(saved.elements_at(range(2, 4))); }},
      {"load of a damaged block",
       [=] {
         save(range(3), broken);
         write(broken, damaged(test::file_contents(broken)));
         read(load<std::int64_t>(broken));
       }},
      {"save of a run that is resumed",
       [=] {
         auto run = range(3).start();
         run.next();
         save(range(3), path, {.resume_from = std::make_shared<Checkpoint>(run.checkpoint())});
       }},
      {"save in a folder that is not there", [=] { save(range(3), folder + "/none/numbers.saved"); }},
      {"snapshot in a folder that cannot be", [=] { range(3).apply(snapshot(path + "/folder")); }},
  };
}

Cases jpeg_cases(const std::string& folder) {
  const std::string good = jpeg(30, 40);
  return {
      {"load_eval of a picture that is not there",
       [=] { read(from_vector(std::vector{folder + "/n00000001/no.JPEG"}).apply(imagenet::load_eval(config()))); }},
      {"load_eval of an empty file", load_eval(folder, "")},
      {"load_eval of a text", load_eval(folder, "no picture")},
      {"load_eval of a PNG with the name of a JPEG", load_eval(folder, hostile::png())},
      {"load_eval of a GIF", load_eval(folder, "GIF89a")},
      {"load_eval of half a JPEG", load_eval(folder, good.substr(0, good.size() / 2))},
      {"load_eval of a JPEG without a picture", load_eval(folder, "\xff\xd8\xff\xd9")},
      {"load_eval of a JPEG with a damaged table", load_eval(folder, hostile::without_codes(good))},
      {"load_eval of a JPEG that claims 65500 x 65500", load_eval(folder, hostile::claiming_size(good, 65500, 65500))},
      {"load_eval of a JPEG of 12 bits", load_eval(folder, hostile::claiming_precision(good, 12))},
      {"load_eval of a JPEG with 600 scans", load_eval(folder, hostile::scan_bomb())},
      {"load_eval of a picture without a label", load_eval(folder, good, "cats/tom.JPEG")},
      {"load_eval of a picture with another label", load_eval(folder, good, "n00000002/a.JPEG")},
      {"decode_jpeg without a name", in_map([] { image::decode_jpeg(std::span<const std::byte>()); })},
      {"decode_jpeg by our own decoder alone of what it does not take", in_map([good] {
         image::decode_jpeg(std::as_bytes(std::span(good)),
                            {.dct = image::Dct::ifast, .decoder = image::Decoder::own, .name = "a.JPEG"});
       })},
      {"decode_jpeg of a window that leaves the picture", in_map([good] {
         image::decode_jpeg(std::as_bytes(std::span(good)), image::Window{20, 0, 11, 5}, {.name = "a.JPEG"});
       })},
  };
}

// Builds a pipeline with this transform.
template <class T> std::function<void()> in_chain(imagenet::Transform<T> transform) {
  return [transform = std::move(transform)] { from_vector<std::string>({"a.JPEG"}).apply(transform); };
}

Cases setting_cases(const std::string& folder) {
  const auto with = [](auto&& change) {
    imagenet::Config wrong = config();
    change(wrong);
    return wrong;
  };
  const std::string empty = folder + "/empty";
  fs::create_directories(folder + "/looped/inside");
  fs::create_directory(empty);
  fs::create_directory_symlink("..", folder + "/looped/inside/back");
  return {
      {"load_crops without labels", in_chain(imagenet::load_crops({}))},
      {"load_crops to no size", in_chain(imagenet::load_crops(with([](auto& c) {
         c.size = {0, 9};
       })))},
      {"load_crops to whole numbers", in_chain(imagenet::load_crops(with([](auto& c) { c.dtype = DType::i64; })))},
      {"load_train that reads no file at a time",
       in_chain(imagenet::load_train(with([](auto& c) { c.read_parallelism = 0; })))},
      {"load_eval that decodes between bounds that are the wrong way round",
       in_chain(imagenet::load_eval(with([](auto& c) { c.decode_parallelism = Tunable::between(8, 2); })))},
      {"load_eval with a shorter side below the crop",
       in_chain(imagenet::load_eval(with([](auto& c) { c.shorter_side = 7; })))},
      {"load_eval with a shorter side beyond any picture",
       in_chain(imagenet::load_eval(with([](auto& c) { c.shorter_side = std::int64_t{1} << 40; })))},
      {"list_images of a folder that is not there", [=] { imagenet::list_images(folder + "/none"); }},
      {"list_images of a folder without pictures", [=] { imagenet::list_images(empty); }},
      {"list_images of a folder that leads into itself", [=] { imagenet::list_images(folder + "/looped"); }},
      {"list_files by extensions without a dot", [=] { list_files(empty, {"png"}); }},
      {"list_files of a folder without such files",
       [=] {
         list_files(empty, {".png", ".bmp"});
       }},
      {"image_folder of a folder without folders",
       [=] { imagenet::image_folder(fs::path(write(folder + "/flat/1.jpg", "x")).parent_path().string()); }},
      {"image_folder with a class that is empty",
       [=] {
         write(folder + "/classes/cat/1.jpg", "x");
         fs::create_directories(folder + "/classes/dog");
         imagenet::image_folder(folder + "/classes");
       }},
      {"label_of of image_folder, asked for a path elsewhere",
       [=] {
         write(folder + "/pets/cat/1.jpg", "x");
         imagenet::image_folder(folder + "/pets").label_of("/other/cat/1.jpg");
       }},
      {"load_objects without labels",
       in_chain(imagenet::load_objects({.label_of = [](const std::string&) { return 0; }}))},
      {"load_objects that wants more than all of a box",
       in_chain(imagenet::load_objects(with([](auto& c) { c.least_visible = 2; })))},
      {"boxes in a crop of no pixels",
       [] {
         image::transform_boxes({}, {0, 0, 0, 5}, {4, 4});
       }},
      {"boxes in a picture of no size",
       [] {
         image::transform_boxes({}, {0, 0, 5, 5}, {0, 4});
       }},
      {"boxes of which more than all must be seen",
       [] {
         image::transform_boxes({}, {0, 0, 5, 5}, {4, 4}, image::Mirror::no, 2);
       }},
      {"a box that is nowhere",
       [] {
         const std::vector<image::PixelBox> nowhere{{0, 0, std::numeric_limits<float>::infinity(), 1}};
         image::transform_boxes(nowhere, {0, 0, 5, 5}, {4, 4});
       }},
      {"labels from an empty file", [=] { LabelTable::from_file(write(folder + "/labels", "")); }},
      {"labels with a blank line", [] { LabelTable::from_lines("cat\n\ndog\n"); }},
      {"labels with one that stands there twice", [] { LabelTable::from_lines("cat\ndog\ncat\n"); }},
  };
}

}  // namespace

std::string write(const std::string& path, const std::string& bytes) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

Cases file_cases(const std::string& folder) {
  Cases all = reading_cases(folder);
  for (const Cases& more : {lines_cases(folder), cache_cases(folder), checkpoint_cases(folder), saved_cases(folder),
                            jpeg_cases(folder), setting_cases(folder)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace penstock::errors
