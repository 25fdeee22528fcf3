#include "ops/imagenet/annotation_path.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ops/io/read_file.h"

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

// Its own folder and name, or its name alone.
std::string_view end_of(std::string_view path, bool with_folder) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return path;
  if (!with_folder) return path.substr(slash + 1);
  const std::size_t before = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1);
  return path.substr(before == std::string_view::npos ? 0 : before + 1);
}

bool path_in_folder(std::string_view image_path, std::string_view folder, std::size_t candidate, std::string& path) {
  const std::size_t candidates = image_path.find('/') == std::string_view::npos ? 1 : 2;
  if (candidate >= candidates) return false;
  path.assign(folder);
  if (!path.ends_with('/')) path += '/';
  path.append(end_of(without_extension(image_path), candidate == 0)).append(".xml");
  return true;
}

bool sibling_path(std::string_view image_path, std::size_t candidate, std::string& path) {
  constexpr std::string_view data = "Data";
  const std::size_t at = find_data_folder(image_path);
  if (candidate > 0 || at == std::string_view::npos) return false;
  path.assign(without_extension(image_path)).replace(at, data.size(), "Annotations").append(".xml");
  return true;
}

// One of annotation_paths() into `path`, whose memory is used again. False: there are no more.
bool annotation_path(std::string_view image_path, std::string_view folder, std::size_t candidate, std::string& path) {
  return folder.empty() ? sibling_path(image_path, candidate, path)
                        : path_in_folder(image_path, folder, candidate, path);
}

}  // namespace

std::vector<std::string> annotation_paths(std::string_view image_path, std::string_view folder) {
  std::vector<std::string> paths;
  std::string path;
  while (annotation_path(image_path, folder, paths.size(), path)) paths.push_back(path);
  return paths;
}

bool read_annotation(const io::FileSystem& files, std::string_view image_path, std::string_view folder,
                     std::size_t max_bytes, AnnotationFile& file) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  const ReadFileOptions options{.max_bytes = static_cast<std::int64_t>(std::min(max_bytes, most))};
  for (std::size_t i = 0; annotation_path(image_path, folder, i, file.path); ++i) {
    auto xml = io::read_file_if_there(files, file.path, options);
    if (!xml) continue;
    file.xml = std::move(*xml);
    return true;
  }
  return false;
}

bool read_annotation(std::string_view image_path, std::string_view folder, std::size_t max_bytes,
                     AnnotationFile& file) {
  return read_annotation(*io::local_file_system(), image_path, folder, max_bytes, file);
}

std::optional<AnnotationFile> read_annotation(std::string_view image_path, std::string_view folder,
                                              std::size_t max_bytes) {
  AnnotationFile file;
  if (!read_annotation(image_path, folder, max_bytes, file)) return std::nullopt;
  return file;
}

}  // namespace penstock
