#include <penstock/imagenet.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

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

// The folders that a walk is in, by their real names, the outermost first.
class Way {
 public:
  explicit Way(const fs::path& outermost) : folders_{fs::canonical(outermost)} {}

  // Goes into a folder whose parent is `depth` folders below the outermost one. A link that leads back would give the same files
  // again and again.
  void enter(const fs::directory_entry& folder, std::size_t depth) {
    folders_.resize(depth + 1);
    fs::path real = folder.is_symlink() ? fs::canonical(folder.path()) : folders_.back() / folder.path().filename();
    if (std::any_of(folders_.begin(), folders_.end(), [&](const fs::path& outer) { return begins_with(outer, real); }))
      fail(ErrorCode::invalid_argument, folder.path().string(), "this link leads back to a folder that it lies in; remove it");
    folders_.push_back(std::move(real));
  }

 private:
  std::vector<fs::path> folders_;
};

std::vector<std::string> walk(const std::string& folder) {
  std::vector<std::string> paths;
  Way way(folder);
  fs::recursive_directory_iterator at(folder, fs::directory_options::follow_directory_symlink);
  while (at != fs::recursive_directory_iterator()) {
    const fs::directory_entry& entry = *at;
    std::error_code error;  // of a link to itself or to nothing: loading it will say so in its place
    fs::path entered;
    if (entry.is_directory(error)) {
      entered = entry.path();
      way.enter(entry, static_cast<std::size_t>(at.depth()));
    } else if (is_jpeg_name(entry.path())) {
      paths.push_back(entry.path().string());
    }
    at.increment(error);
    if (error) throw fs::filesystem_error("", entered, error);
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
    fail(ErrorCode::not_found, folder, "there are no *.JPEG, *.jpeg, *.JPG, *.jpg in it; name the folder that holds them");
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
