#include "ops/file_list.h"

#include <penstock/ops.h>
#include <penstock/sources.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "lib/base/text.h"
#include "ops/io/read_file.h"

namespace penstock {
namespace ops {
namespace {

std::vector<std::string> read_paths(const io::FileSystem& files, const std::string& list) {
  const Tensor bytes = io::read_file(files, list);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.bytes());
  return parse_file_list(text, std::filesystem::path(list).parent_path().string());
}

}  // namespace

std::vector<std::string> parse_file_list(std::string_view text, const std::string& folder) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty()) paths.push_back((std::filesystem::path(folder) / line).string());
  }
  return paths;
}

OpRef file_list(const io::FileSystem& files, const std::string& path) {
  std::vector<std::string> paths = read_paths(files, path);
  if (paths.empty())
    throw Error(ErrorCode::invalid_argument, in_quotes(path) + " names no files: it should have one path on each line");
  const std::string noun = paths.size() == 1 ? " file" : " files";
  std::string parameters = path + ", " + std::to_string(paths.size()) + noun;
  std::string digest = detail::digest_of(paths, (std::filesystem::path(path).parent_path() / "").string());
  return indexed_source("from_file_list", std::move(parameters),
                        std::make_shared<detail::VectorSource<std::string>>(std::move(paths)), std::move(digest));
}

OpRef file_list(const std::string& path) { return file_list(*io::local_file_system(), path); }

}  // namespace ops

Dataset<std::string> from_file_list(const std::string& path, CallSite site) {
  return Dataset<std::string>(graph::build(nullptr, "from_file_list", site, [&] { return ops::file_list(path); }));
}

}  // namespace penstock
