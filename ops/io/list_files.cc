#include <penstock/error.h>
#include <penstock/io.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "lib/base/errno_code.h"
#include "lib/base/text.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(ErrorCode code, const std::string& folder, const std::string& reason) {
  throw Error(code, "cannot list the files in " + in_quotes(folder) + ": " + reason);
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

// ".jpg" and ".JPG" are the same. None: all files.
class Extensions {
 public:
  Extensions(std::vector<std::string> extensions, const std::string& folder) : extensions_(std::move(extensions)) {
    for (std::string& each : extensions_) {
      if (each.size() < 2 || each.front() != '.')
        fail(ErrorCode::invalid_argument, folder, "an extension begins with a dot, such as \".png\", but one is " + in_quotes(each));
      each = lower_case(std::move(each));
    }
  }

  bool has(const fs::path& file) const {
    return extensions_.empty() || std::ranges::find(extensions_, lower_case(file.extension().string())) != extensions_.end();
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

std::vector<std::string> walk(const std::string& folder, const Extensions& extensions, bool recursive) {
  std::vector<std::string> paths;
  Way way(folder);
  fs::recursive_directory_iterator at(folder, fs::directory_options::follow_directory_symlink);
  while (at != fs::recursive_directory_iterator()) {
    const fs::directory_entry& entry = *at;
    std::error_code error;  // of a link to itself or to nothing: reading it will say so in its place
    fs::path entered;
    if (entry.is_directory(error)) {
      if (!recursive) at.disable_recursion_pending();
      entered = entry.path();
      if (recursive) way.enter(entry, static_cast<std::size_t>(at.depth()));
    } else if (extensions.has(entry.path())) {
      paths.push_back(entry.path().string());
    }
    at.increment(error);
    if (error) throw fs::filesystem_error("", entered, error);
  }
  return paths;
}

}  // namespace

std::vector<std::string> file_paths(const std::string& folder, std::vector<std::string> extensions, const ListFilesOptions& options) {
  const Extensions wanted(std::move(extensions), folder);
  std::vector<std::string> paths;
  try {
    paths = walk(folder, wanted, options.recursive);
  } catch (const fs::filesystem_error& error) {
    fail(code_of_errno(error.code().value(), ErrorCode::unavailable),
         error.path1().empty() ? folder : error.path1().string(), error.code().message() + "; check the path and your right to read it");
  }
  if (paths.empty()) fail(ErrorCode::not_found, folder, "there are no " + wanted.text() + " in it; name the folder that holds them");
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace penstock
