// lines: the lines of text files. Documented at penstock::lines (sources.h).
//
// Two ops, since a line is too little to be handed from thread to thread: `lines` waits for files and gives blocks of
// lines, `split_lines` makes strings of them on a CPU slot, several blocks at once.
#pragma once

#include <penstock/op.h>
#include <penstock/sources.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/io/file_system.h"

namespace penstock::ops {

// Gives io::LineBlock.
class LinesOp final : public SourceOp {
 public:
  LinesOp(io::FileSystemRef files, std::vector<std::string> paths, const LinesOptions& options);
  std::string name() const override { return "lines"; }
  std::string parameters() const override;
  Flow flow(const Flow&) const override { return {}; }
  Form form() const override { return Form::blocks; }
  bool form_is_known() const override { return true; }
  std::unique_ptr<SourceReader> open() const override;

 private:
  class Reader;

  io::FileSystemRef files_;
  std::vector<std::string> paths_;
  std::size_t max_line_bytes_;
};

class SplitLinesOp final : public ElementwiseOp {
 public:
  std::string name() const override { return "split_lines"; }
  Flow flow(const Flow&) const override { return {}; }
  std::optional<std::size_t> outputs_of(const Element& input) const override;
  std::optional<std::size_t> bytes_hint(const Element& input) const override;
  void run(std::span<Slot> slots, Context& context) const override;
};

OpRef lines(io::FileSystemRef files, std::vector<std::string> paths, const LinesOptions& options = {});
OpRef split_lines();

}  // namespace penstock::ops
