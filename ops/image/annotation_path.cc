#include <penstock/io.h>
#include <penstock/voc.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace penstock {
namespace {

// "Data" as a whole component, the last one; npos if there is none. The file's own name does not
// count.
std::size_t find_data_folder(std::string_view path) {
  constexpr std::string_view folder = "Data";
  std::size_t end = path.rfind('/');
  while (end != std::string_view::npos) {
    const std::size_t before = end == 0 ? std::string_view::npos : path.rfind('/', end - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (path.substr(begin, end - begin) == folder) return begin;
    end = before;
  }
  return std::string_view::npos;
}

// The path without the final extension; a name that begins with its only dot has none.
std::string_view without_extension(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
  if (dot == std::string_view::npos || dot <= name) return path;
  return path.substr(0, dot);
}

std::vector<std::string> paths_in_folder(std::string_view image_path, std::string_view folder) {
  const std::string_view path = without_extension(image_path);
  std::string root(folder);
  if (!root.ends_with('/')) root += '/';
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {root.append(path).append(".xml")};
  const std::size_t before = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1);
  const std::size_t class_folder = before == std::string_view::npos ? 0 : before + 1;
  return {root + std::string(path.substr(class_folder)) + ".xml",
          root + std::string(path.substr(slash + 1)) + ".xml"};
}

}  // namespace

std::vector<std::string> annotation_paths(std::string_view image_path, std::string_view folder) {
  if (!folder.empty()) return paths_in_folder(image_path, folder);
  const std::size_t data = find_data_folder(image_path);
  if (data == std::string_view::npos) return {};
  std::string path(without_extension(image_path));
  path.replace(data, std::string_view("Data").size(), "Annotations");
  return {path + ".xml"};
}

std::optional<AnnotationFile> read_annotation(std::string_view image_path, std::string_view folder,
                                              std::size_t max_bytes) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  const ReadFileOptions options{.max_bytes = static_cast<std::int64_t>(std::min(max_bytes, most))};
  for (const std::string& path : annotation_paths(image_path, folder)) {
    if (auto xml = read_file_if_there(path, options)) return AnnotationFile{path, std::move(*xml)};
  }
  return std::nullopt;
}

}  // namespace penstock
