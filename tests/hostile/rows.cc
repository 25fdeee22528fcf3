// The rows of MATRIX.md: files, lists, configurations, functions.
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>

#include "bench/imagenet/config_file.h"
#include "tests/hostile/observe.h"
#include "tests/hostile/pictures.h"
#include "tests/support/pictures/sample_set.h"
#include "tests/support/unprivileged.h"

namespace penstock::hostile {
namespace {

namespace fs = std::filesystem;

void add_rows(std::vector<Row>& rows, const std::string& chapter, const std::vector<Input>& inputs) {
  for (const Input& input : inputs)
    rows.push_back({chapter, input.name, input.mode.name, expected(input), load(input)});
}

// What a call throws that should never have begun.
Outcome refused_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const GraphError& error) {
    return {"GraphError", "nothing runs", error.what()};
  } catch (const Error& error) {
    return {std::string(to_string(error.code())), "nothing runs", error.what()};
  } catch (const bench::UsageError& error) {
    return {"wrong usage", "nothing runs", error.what()};
  }
  return {"accepted", "", ""};
}

}  // namespace

std::vector<Row> file_rows() {
  std::vector<Row> rows;
  add_rows(rows, "Pictures", pictures());
  add_rows(rows, "Annotations", annotations());
  add_rows(rows, "Boxes", boxes());
  return rows;
}

std::vector<Row> list_rows() {
  const pictures::SampleSet set(3);
  test::let_all_read(set.folder());
  const auto at = [&](const char* name) { return (set.folder() / name).string(); };
  const auto list = [&](const char* name, const std::string& bytes) {
    write(at(name), bytes);
    return at(name);
  };
  std::vector<Row> rows;
  const auto add = [&rows](const char* input, const char* mode, const char* outcome, const std::string& says,
                           const std::function<void()>& call) {
    rows.push_back({"Lists and folders", input, mode, {outcome, "nothing runs", says}, refused_by(call)});
  };
  const auto refuse_list = [&](const char* input, const std::string& path, const char* says) {
    add(input, "file list", "GraphError", says, [=] { from_file_list(path); });
  };
  refuse_list("no such list", at("missing.txt"), "No such file");
  refuse_list("a folder", at("Data"), "Is a directory");
  refuse_list("an empty list", list("empty.txt", ""), "names no files");
  refuse_list("a list of blank lines", list("blank.txt", "\n \n\t\r\n"), "names no files");
  fs::create_directory(at("none"));
  fs::create_directories(at("shut/inside"));
  fs::permissions(at("shut"), fs::perms::none);
  fs::create_directory(at("loop"));
  fs::create_directory_symlink(".", at("loop/again"));
  add("no such folder", "folder", "not_found", at("missing"), [&] { imagenet::list_images(at("missing")); });
  add("a folder without pictures", "folder", "not_found", at("none"), [&] { imagenet::list_images(at("none")); });
  add("a folder that leads into itself", "folder", "invalid_argument", at("loop"),
      [&] { imagenet::list_images(at("loop")); });
  add("a folder that may not be read", "folder", "permission_denied", at("shut"), [&] {
    const test::Unprivileged scope;
    imagenet::list_images(at("shut"));
  });
  add("a folder within that may not be read", "folder", "permission_denied", at("shut"), [&] {
    const test::Unprivileged scope;
    imagenet::list_images(set.folder().string());
  });
  fs::permissions(at("shut"), fs::perms::all);
  return rows;
}

std::vector<Row> config_rows() {
  const pictures::SampleSet set(0);
  const std::string file = (set.folder() / "ilsvrc.json").string();
  std::vector<Row> rows;
  const auto add = [&](const char* input, const std::string& json, const char* says) {
    write(file, json);
    rows.push_back({"ilsvrc.json", input, "--config", {"wrong usage", "nothing runs", says}, refused_by([&] {
                      bench::ImagenetOptions options;
                      bench::apply_config_file(file, options);
                    })});
  };
  const auto add_data = [&](const char* input, const std::string& data, const char* says) {
    add(input, "{\"data\": {" + data + "}}", says);
  };
  add("empty", "", "not valid JSON");
  add("a text", "batch_size = 128", "not valid JSON");
  add("cut", R"({"data": {"batch_size": 12)", "not valid JSON at byte");
  add("a JPEG", jpeg(30, 40), "not valid JSON");
  add("a number", "128", "not a JSON object");
  add("an unknown section", R"({"train": {}})", "unknown key \"train\"; did you mean \"data\"?");
  add("a list for a section", R"({"data": [1]})", "\"data\" must be an object");
  add("lists nested 100,000 deep", std::string(100'000, '[') + std::string(100'000, ']'), "not a JSON object");
  add("above 1 MiB", "{\"data\": {\"handler\": \"" + std::string(1 << 20, 'x') + "\"}}", "the limit is 1048576");
  add_data("an unknown key", R"("batchsize": 4)", "did you mean \"batch_size\"?");
  add_data("an unknown key of a megabyte", "\"" + std::string(1'000'000, 'b') + "\": 1", "unknown key");
  add_data("a text for a number", R"("batch_size": "128")", "must be a whole number");
  add_data("a fraction", R"("batch_size": 1.5)", "but is 1.5");
  add_data("null", R"("batch_size": null)", "but is null");
  add_data("a batch of 0", R"("batch_size": 0)", "from 1 to 2147483647");
  add_data("a batch of 10^30", R"("batch_size": 1e30)", "but is 1e+30");
  add_data("a batch of 2^64", R"("batch_size": 18446744073709551616)", "must be a whole number");
  add_data("a negative shuffle buffer", R"("shuffle_buffer": -1)", "but is -1");
  add_data("a number for a path", R"("train_filelist": 7)", "must be a string");
  add_data("a path nested 300,000 deep", "\"train_filelist\": " + std::string(300'000, '[') + std::string(300'000, ']'),
           "but is an array of 1");
  add_data("a crop of three numbers", R"("crop_image_size": [1, 2, 3])", "but is [1,2,3]");
  add_data("a truth that is a number", R"("reshuffle_each_iteration": 1)", "must be true or false");
  add_data("four channels", R"("num_channels": 4)", "must be 3, but is 4");
  return rows;
}

}  // namespace penstock::hostile
