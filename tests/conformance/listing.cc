#include "tests/conformance/listing.h"

#include <filesystem>
#include <regex>
#include <utility>

#include "tests/support/file_contents.h"

namespace conformance {
namespace {

namespace fs = std::filesystem;
using penstock::test::file_contents;

// What several ops share, and methods that put other ops together. counter, random: sources over positions without an
// end, as range has them with one; tests/ops/endless_sources_test.cc.
// assert_cardinality: says a count, of one input alone, and the suite has many; tests/ops/assert_cardinality_test.cc.
// unpacked_files: what lines reads of; tests/ops/unpacked_files_test.cc.
// load: a map whose function reads a file; tests/ops/load_test.cc.
// random_resized_crop_of_objects: the class of random_resized_crop, but its pictures must have annotations, and only
// some of this suite's have one; tests/imagenet/load_objects_test.cc.
const std::set<std::string> kNoOps{"assert_cardinality",
                                   "collect_op",
                                   "function_op",
                                   "step_op",
                                   "counter",
                                   "random",
                                   "indexed_source",
                                   "append",
                                   "cache_file",
                                   "cache_pass",
                                   "load",
                                   "saved_file",
                                   "apply",
                                   "then",
                                   "random_resized_crop_of_objects",
                                   "merging",
                                   "seed",
                                   "shuffle_buffer",
                                   "unpacked_files"};

}  // namespace

std::vector<std::string> ops_declared_in(const std::string& header) {
  static const std::regex declaration(
      R"(\n *(?:template <[^;{\n]*> )?(?:auto|Dataset(?:<[\w:]+>)?) (\w+)\([^;{]*CallSite)"
      R"(|\n *auto (apply)\()");
  std::vector<std::string> names;
  for (std::sregex_iterator at(header.begin(), header.end(), declaration), end; at != end; ++at)
    names.push_back((*at)[1].matched ? (*at)[1] : (*at)[2]);
  return names;
}

std::vector<std::string> ops_named_in(const std::string& source) {
  static const std::regex name(R"(name\(\) const override \{ return "(\w+)\"; \})");
  std::vector<std::string> names;
  for (std::sregex_iterator at(source.begin(), source.end(), name), end; at != end; ++at) names.push_back((*at)[1]);
  return names;
}

std::string op_written_in(const std::string& stem, const std::string& header) {
  const std::vector<std::string> names = ops_named_in(header);
  return names.empty() ? stem : names.front();
}

std::vector<std::string> ops_without_a_line(const std::string& root, const std::set<std::string>& names) {
  const fs::path folder(root);
  std::vector<std::string> declared;
  for (const char* header : {"dataset.h", "sources.h"})
    for (std::string& op : ops_declared_in(file_contents(folder / "include/penstock" / header)))
      declared.push_back(std::move(op));
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder / "ops")) {
    const fs::path& file = entry.path();
    const bool is_below = file.parent_path() != folder / "ops";  // where a header need not be an op
    if (!is_below && file.extension() == ".h")
      declared.push_back(op_written_in(file.stem().string(), file_contents(file)));
    if (is_below && entry.is_regular_file())
      for (std::string& op : ops_named_in(file_contents(file))) declared.push_back(std::move(op));
  }
  std::erase_if(declared, [&](const std::string& op) {
    return kNoOps.contains(op) || names.contains(op) || names.contains("from_" + op);
  });
  return declared;
}

}  // namespace conformance
