// cache(path): what is before it runs until one pass has been written to a file, which is read from then on. Documented
// at Dataset::cache.
#pragma once

#include <penstock/call_site.h>
#include <penstock/codec.h>
#include <penstock/op.h>
#include <penstock/options.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "lib/graph/traits.h"
#include "ops/cache_file.h"
#include "ops/io/file_system.h"

namespace penstock::ops {

class FileCacheOp final : public MergeOp, public graph::RunsInputsOnce {
 public:
  // Error(invalid_argument) for a path that is none, and where max_bytes is negative.
  FileCacheOp(io::FileSystemRef files, detail::ElementCodecRef codec, std::string path, const CacheOptions& options,
              const CallSite& site);
  std::string name() const override { return "cache"; }
  std::string parameters() const override;
  Flow flow_of(std::span<const Flow> inputs) const override { return inputs.front(); }
  std::unique_ptr<MergeState> open(std::size_t inputs) const override;

 private:
  class State;

  // Null: there is none, or one that was found to be damaged. Else as CacheFile::open().
  std::unique_ptr<CacheFileReader> reader() const;
  std::unique_ptr<CacheFileWriter> writer() const;  // null, with a warning: the file cannot be written
  // Once each: of what was thrown just now, and of something else.
  void warn_of_failure(const char* what) const noexcept;
  void warn(const char* reason) const noexcept;
  void print(const char* reason) const noexcept;

  const io::FileSystemRef files_;
  const detail::ElementCodecRef codec_;
  const std::string path_;
  const std::int64_t max_bytes_;
  const CallSite site_;
  mutable std::atomic<bool> is_damaged_{false};  // what is at the path: it is not read, but replaced
  mutable std::atomic<bool> has_warned_{false};
  mutable std::atomic<bool> has_told_of_others_{false};  // who write the file
};

}  // namespace penstock::ops
