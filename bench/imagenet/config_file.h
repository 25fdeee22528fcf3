// ALCF's ilsvrc.json: the same file that their TensorFlow and PyTorch scripts take.
#pragma once

#include <string>
#include <string_view>

#include "bench/imagenet/options.h"

namespace penstock::bench {

// Which file list of the two is read is the command line's matter; train is the default.
struct ConfigFile {
  std::string train_filelist;
  std::string test_filelist;
};

// Puts what the file says into `options`. Keys that are known but mean nothing here are accepted;
// UsageError for any other, with the nearest known one, and for a value of the wrong type or out of
// range. `name` is for error texts.
ConfigFile apply_config(std::string_view json, std::string_view name, ImagenetOptions& options);

// The same from a file. UsageError also if it cannot be read.
ConfigFile apply_config_file(const std::string& path, ImagenetOptions& options);

}  // namespace penstock::bench
