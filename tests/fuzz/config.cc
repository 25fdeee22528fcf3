#include "bench/imagenet/config_file.h"

#include <penstock/labels.h>
#include <penstock/sources.h>
#include <penstock/voc.h>

#include <fstream>
#include <tuple>
#include <vector>

#include "lib/runtime/tuning_file.h"
#include "ops/file_list.h"
#include "tests/fuzz/targets.h"
#include "tests/support/temporary_folder.h"

namespace penstock::fuzz {
namespace {

using bench::ImagenetOptions;

// All that a configuration file can change.
auto fields_of(const ImagenetOptions& options, const bench::ConfigFile& files) {
  return std::make_tuple(options.batch, options.shuffle_buffer, options.reshuffle, options.crop.height,
                         options.crop.width, options.num_classes, files.train_filelist, files.test_filelist);
}

bool is_number(std::int64_t value) { return value >= 1 && value <= bench::largest_number; }

// False: refused, with a reason.
bool apply(std::string_view json, ImagenetOptions& options, bench::ConfigFile& files) {
  try {
    files = bench::apply_config(json, "fuzz.json", options);
    return true;
  } catch (const bench::UsageError& error) {
    require(std::string_view(error.what()).starts_with("'fuzz.json': "), "a refusal names the file");
    require(std::string_view(error.what()).size() < 4096, "a refusal can be read");
    return false;
  }
}

void check_json(std::string_view json) {
  ImagenetOptions options, again;
  bench::ConfigFile files, files_again;
  if (!apply(json, options, files)) return;
  require(is_number(options.batch) && is_number(options.shuffle_buffer), "numbers are positive and fit");
  require(!options.num_classes || is_number(*options.num_classes), "classes are positive and fit");
  const bool unchanged = options.crop == image::Size{};
  require(unchanged || (is_number(options.crop.height) && is_number(options.crop.width)),
          "a size is positive and fits");
  require(apply(json, again, files_again) && fields_of(options, files) == fields_of(again, files_again),
          "the same file says the same");
  require(apply(json, options, files_again) && fields_of(options, files) == fields_of(again, files_again),
          "once is as good as twice");
}

// Lines with anything but white space in them: counted letter by letter.
std::size_t lines_with_text(std::string_view text) {
  std::size_t lines = 0;
  bool has_text = false;
  for (const char letter : text) {
    const bool is_space = letter == ' ' || (letter >= '\t' && letter <= '\r');
    if (!has_text && !is_space) ++lines;
    has_text = letter != '\n' && (has_text || !is_space);
  }
  return lines;
}

void check_file(std::string_view list, std::size_t lines) {
  static const test::TemporaryFolder folder;  // one for the process: the file is written anew for each list
  const std::string file = folder.path() / "list.txt";
  std::ofstream(file, std::ios::binary) << list;
  std::vector<std::string> paths;
  const bool read = succeeds([&] {
    auto run = from_file_list(file).start({.serial = true});
    while (auto path = run.next()) paths.push_back(std::move(*path));
  });
  require(read == (lines > 0), "a list without lines is refused, and no other");
  require(paths == (read ? ops::parse_file_list(list, folder.path().string()) : std::vector<std::string>()),
          "a list in a file is the list");
}

void check_paths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    require(!path.empty(), "a path is not empty");
    const std::string_view label = label_in_path(path);
    require(label.empty() || is_wordnet_id(label), "a label is a WordNet id");
    for (const char* folder : {"", "xml"}) {
      for (const std::string& xml : annotation_paths(path, folder))
        require(xml.ends_with(".xml"), "an annotation is XML");
    }
  }
}

void check_labels(std::string_view lines) {
  LabelTable table;
  if (!succeeds([&] { table = LabelTable::from_lines(lines); })) return;
  for (std::int32_t id = 0; id < table.size(); ++id) require(table.id(table.name(id)) == id, "a label has its number");
}

void check_tuning(std::string_view text) {
  const auto tuning = runtime::parse_tuning(text);
  if (!tuning) return;
  const std::string again = runtime::to_text(*tuning);
  const auto same = runtime::parse_tuning(again);
  require(same && runtime::to_text(*same) == again, "what is written can be read");
}

}  // namespace

void config(std::string_view bytes) {
  const std::size_t border = bytes.find('\0');
  const std::string_view list = border == bytes.npos ? std::string_view() : bytes.substr(border + 1);
  check_json(bytes.substr(0, border));
  check_tuning(bytes.substr(0, border));
  const auto paths = ops::parse_file_list(list, "train");
  const std::size_t lines = lines_with_text(list);
  require(paths.size() == lines, "each line is a path");
  check_file(list, lines);
  check_paths(paths);
  check_labels(list);
}

}  // namespace penstock::fuzz
