// file_list: the paths named in a text file, one a line. Documented at penstock::from_file_list (sources.h).
#pragma once

#include <penstock/op.h>

#include <string>
#include <string_view>
#include <vector>

#include "ops/io/file_system.h"

namespace penstock::ops {

// The paths in `text`: white space around a line is cut off, blank lines are left out, relative
// paths are put behind `folder` ("" leaves them as they are).
//
//   parse_file_list(" a.jpg\n\n/b.jpg", "train")  ->  "train/a.jpg", "/b.jpg"
std::vector<std::string> parse_file_list(std::string_view text, const std::string& folder);

// The list is read now.
OpRef file_list(const io::FileSystem& files, const std::string& path);

}  // namespace penstock::ops
