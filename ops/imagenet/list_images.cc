#include <penstock/imagenet.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "lib/core/errno_code.h"

namespace penstock::imagenet {
namespace {

namespace fs = std::filesystem;

bool is_jpeg_name(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".JPEG" || extension == ".jpeg" || extension == ".jpg" || extension == ".JPG";
}

[[noreturn]] void fail(ErrorCode code, const std::string& folder, const std::string& reason) {
  throw Error(code, "cannot list the images in '" + folder + "': " + reason);
}

std::vector<std::string> walk(const std::string& folder) {
  std::vector<std::string> paths;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, options))
    if (is_jpeg_name(entry.path()) && !entry.is_directory()) paths.push_back(entry.path().string());
  return paths;
}

// The label of a file whose path tells none, "" if its annotation cannot be read: loading the file
// will report that.
std::string label_in_annotation(const std::string& path, const std::string& annotations) {
  try {
    const auto file = read_annotation(path, annotations);
    if (!file) return {};
    const VocAnnotation annotation = parse_voc(file->xml);
    return annotation.objects.empty() ? std::string() : annotation.objects.front().name;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::vector<std::string> list_images(const std::string& folder) {
  std::vector<std::string> paths;
  try {
    paths = walk(folder);
  } catch (const fs::filesystem_error& error) {
    fail(code_of_errno(error.code().value(), ErrorCode::unavailable),
         error.path1().empty() ? folder : error.path1().string(), error.code().message());
  }
  if (paths.empty())
    fail(ErrorCode::not_found, folder, "there are no *.JPEG, *.jpeg, *.JPG, *.jpg in it");
  std::sort(paths.begin(), paths.end());
  return paths;
}

LabelTable labels_of(std::span<const std::string> paths, const std::string& annotations) {
  std::set<std::string, std::less<>> names;
  for (const std::string& path : paths) {
    const std::string_view in_path = label_in_path(path);
    if (names.contains(in_path)) continue;
    std::string name =
        in_path.empty() ? label_in_annotation(path, annotations) : std::string(in_path);
    if (!name.empty()) names.insert(std::move(name));
  }
  return LabelTable::from_names({names.begin(), names.end()});
}

}  // namespace penstock::imagenet
