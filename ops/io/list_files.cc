#include "ops/io/list_files.h"

#include <penstock/error.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include "lib/base/errno_code.h"
#include "lib/base/text.h"

namespace penstock {
namespace io {
namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& folder, const std::string& reason) {
  throw Error(code, "cannot list the files in " + in_quotes(folder) + ": " + reason);
}

[[noreturn]] void fail(int error, const std::string& folder) {
  fail(code_of_errno(error, ErrorCode::unavailable), folder,
       std::generic_category().message(error) + "; check the path and your right to read it");
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

// "" for a name whose only dot is its first letter.
std::string extension_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? std::string() : name.substr(dot);
}

// ".jpg" and ".JPG" are the same. None: all files.
class Extensions {
 public:
  Extensions(std::vector<std::string> extensions, const std::string& folder) : extensions_(std::move(extensions)) {
    for (std::string& each : extensions_) {
      if (each.size() < 2 || each.front() != '.')
        fail(ErrorCode::invalid_argument, folder,
             "an extension begins with a dot, such as \".png\", but one is " + in_quotes(each));
      each = lower_case(std::move(each));
    }
  }

  bool has(const std::string& name) const {
    return extensions_.empty() || std::ranges::find(extensions_, lower_case(extension_of(name))) != extensions_.end();
  }

  // "*.jpeg, *.jpg"
  std::string text() const {
    std::string all;
    for (const std::string& each : extensions_) all += (all.empty() ? "*" : ", *") + each;
    return extensions_.empty() ? "files" : all;
  }

 private:
  std::vector<std::string> extensions_;
};

std::vector<FolderEntry> entries_of(const FileSystem& files, const std::string& folder) {
  auto [entries, error] = files.list(folder);
  if (error != 0) fail(error, folder);
  return std::move(entries);
}

std::string real_path(const FileSystem& files, const std::string& path) {
  auto [real, error] = files.real_path(path);
  if (error != 0) fail(error, path);
  return std::move(real);
}

std::string below(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

bool lies_in(const std::string& path, const std::string& folder) {
  return path.starts_with(folder) &&
         (path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/');
}

// Goes through the folders below one, and collects files.
class Walk {
 public:
  Walk(const FileSystem& files, const Extensions& extensions, bool is_recursive)
      : files_(files), extensions_(extensions), is_recursive_(is_recursive) {}

  std::vector<std::string> through(const std::string& folder) {
    way_.push_back(real_path(files_, folder));
    list(folder);
    return std::move(paths_);
  }

 private:
  void list(const std::string& folder) {
    for (const FolderEntry& entry : entries_of(files_, folder)) {
      if (entry.is_folder && is_recursive_) enter(below(folder, entry.name), entry);
      if (!entry.is_folder && extensions_.has(entry.name)) paths_.push_back(below(folder, entry.name));
    }
  }

  // A link that leads back would give the same files again and again.
  void enter(const std::string& folder, const FolderEntry& entry) {
    std::string real = entry.is_link ? real_path(files_, folder) : below(way_.back(), entry.name);
    if (std::ranges::any_of(way_, [&](const std::string& outer) { return lies_in(outer, real); }))
      fail(ErrorCode::invalid_argument, folder, "this link leads back to a folder that it lies in; remove it");
    way_.push_back(std::move(real));
    list(folder);
    way_.pop_back();
  }

  const FileSystem& files_;
  const Extensions& extensions_;
  const bool is_recursive_;
  std::vector<std::string> way_;  // the folders that it is in, by their real names, the outermost first
  std::vector<std::string> paths_;
};

}  // namespace

std::vector<std::string> file_paths(const FileSystem& files, const std::string& folder,
                                    std::vector<std::string> extensions, const ListFilesOptions& options) {
  const Extensions wanted(std::move(extensions), folder);
  std::vector<std::string> paths = Walk(files, wanted, options.recursive).through(folder);
  if (paths.empty())
    fail(ErrorCode::not_found, folder, "there are no " + wanted.text() + " in it; name the folder that holds them");
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> folder_names(const FileSystem& files, const std::string& folder) {
  std::vector<std::string> names;
  for (FolderEntry& entry : entries_of(files, folder))
    if (entry.is_folder) names.push_back(std::move(entry.name));
  return names;
}

}  // namespace io

std::vector<std::string> file_paths(const std::string& folder, std::vector<std::string> extensions,
                                    const ListFilesOptions& options) {
  return io::file_paths(*io::local_file_system(), folder, std::move(extensions), options);
}

}  // namespace penstock
