#include <penstock/io.h>
#include <penstock/ops.h>
#include <penstock/sources.h>

#include <utility>

namespace penstock {

Dataset<std::string> list_files(const std::string& folder, std::vector<std::string> extensions,
                                const ListFilesOptions& options, CallSite site) {
  return Dataset<std::string>(graph::build(nullptr, "list_files", site, [&] {
    std::vector<std::string> paths = file_paths(folder, std::move(extensions), options);
    std::string parameters = folder + ", " + std::to_string(paths.size()) + (paths.size() == 1 ? " file" : " files");
    std::string digest = detail::digest_of(paths, folder);
    return ops::indexed_source("list_files", std::move(parameters),
                               std::make_shared<detail::VectorSource<std::string>>(std::move(paths)),
                               std::move(digest));
  }));
}

}  // namespace penstock
