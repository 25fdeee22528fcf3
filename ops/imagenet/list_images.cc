#include <penstock/imagenet.h>
#include <penstock/io.h>

#include <set>
#include <utility>
#include <vector>

#include "lib/base/text.h"
#include "ops/io/list_files.h"

namespace penstock::imagenet {
namespace {

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

// The first folder below `root` on the way to the file, "" for a file of the root itself. The path begins with the
// root, as it was listed.
std::string class_of(const std::string& path, const std::string& root) {
  const std::size_t begin = path.find_first_not_of('/', root.size());
  const std::size_t end = begin == path.npos ? path.npos : path.find('/', begin);
  return end == path.npos ? std::string() : path.substr(begin, end - begin);
}

// A label_of() may be asked for any path.
void check_below(const std::string& path, const std::string& root) {
  const bool is_below = path.starts_with(root) && (root.ends_with('/') || path.substr(root.size(), 1) == "/");
  if (is_below) return;
  throw Error(ErrorCode::invalid_argument,
              "image_folder: " + in_quotes(path) + " is not below " + in_quotes(root) +
                  ", whose folders are the classes: give a path that begins as those of ImageFolder::paths");
}

void check_classes(const LabelTable& labels, const std::set<std::string>& with_files, const std::string& root) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorCode::not_found, "image_folder: " + in_quotes(root) + " " + reason);
  };
  if (labels.size() == 0)
    refuse("holds no folders; it should have one for each class, with the class's pictures in it");
  for (std::int32_t id = 0; id < labels.size(); ++id) {
    if (!with_files.contains(labels.name(id)))
      refuse("has a folder without pictures (*.jpeg, *.jpg), " + in_quotes(labels.name(id)) +
             "; fill it or remove it, for it would be a class");
  }
}

}  // namespace

std::vector<std::string> list_images(const std::string& folder) { return file_paths(folder, {".jpeg", ".jpg"}); }

ImageFolder image_folder(const std::string& root) {
  ImageFolder found;
  std::set<std::string> with_files;
  for (std::string& path : list_images(root)) {
    const std::string name = class_of(path, root);
    if (name.empty()) continue;
    with_files.insert(name);
    found.paths.push_back(std::move(path));
  }
  found.classes = LabelTable::from_names(io::folder_names(*io::local_file_system(), root));
  check_classes(found.classes, with_files, root);
  found.label_of = [root, classes = found.classes](const std::string& path) {
    check_below(path, root);
    return classes.id(class_of(path, root));
  };
  return found;
}

LabelTable labels_of(std::span<const std::string> paths, const std::string& annotations) {
  std::set<std::string, std::less<>> names;
  for (const std::string& path : paths) {
    const std::string_view in_path = label_in_path(path);
    if (names.contains(in_path)) continue;
    std::string name = in_path.empty() ? label_in_annotation(path, annotations) : std::string(in_path);
    if (!name.empty()) names.insert(std::move(name));
  }
  return LabelTable::from_names({names.begin(), names.end()});
}

}  // namespace penstock::imagenet
