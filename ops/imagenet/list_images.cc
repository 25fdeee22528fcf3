#include <penstock/imagenet.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "lib/core/errno_code.h"
#include "lib/core/text.h"

namespace penstock::imagenet {
namespace {

namespace fs = std::filesystem;

bool is_jpeg_name(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".JPEG" || extension == ".jpeg" || extension == ".jpg" || extension == ".JPG";
}

[[noreturn]] void fail(ErrorCode code, const std::string& folder, const std::string& reason) {
  throw Error(code, "cannot list the images in " + in_quotes(folder) + ": " + reason);
}

bool begins_with(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// Followed, it would give the same files again and again.
void check_link(const fs::path& link) {
  if (begins_with(fs::canonical(link.parent_path()), fs::canonical(link)))
    fail(ErrorCode::invalid_argument, link.string(), "this link leads back to a folder that it lies in; remove it");
}

std::vector<std::string> walk(const std::string& folder) {
  std::vector<std::string> paths;
  fs::recursive_directory_iterator at(folder, fs::directory_options::follow_directory_symlink);
  while (at != fs::recursive_directory_iterator()) {
    const fs::directory_entry entry = *at;
    std::error_code error;  // of a link to itself or to nothing: loading it will say so in its place
    const bool is_folder = entry.is_directory(error);
    if (is_folder && entry.is_symlink()) check_link(entry.path());
    if (!is_folder && is_jpeg_name(entry.path())) paths.push_back(entry.path().string());
    at.increment(error);
    if (error) throw fs::filesystem_error("", entry.path(), error);
  }
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
         error.path1().empty() ? folder : error.path1().string(), error.code().message() + "; check the path and your right to read it");
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
