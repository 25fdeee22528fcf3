// Which ops the library has, read from its sources: so that none is left out of the suite.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace conformance {

// Names of the methods and functions in the text of dataset.h or sources.h that make a dataset.
std::vector<std::string> ops_declared_in(const std::string& header);

// The names that the ops in a source of the library give themselves.
std::vector<std::string> ops_named_in(const std::string& source);

// The name of the op in ops/<stem>.h: what its name() says, else the stem.
std::string op_written_in(const std::string& stem, const std::string& header);

// Those of the library at `root` that have no line among `names`.
std::vector<std::string> ops_without_a_line(const std::string& root, const std::set<std::string>& names);

}  // namespace conformance
