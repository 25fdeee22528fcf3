#include "ops/lines.h"

#include <penstock/bytes.h>
#include <penstock/detail/functions.h>
#include <penstock/detail/results.h>

#include <algorithm>
#include <utility>

#include "lib/base/mutex.h"
#include "lib/graph/arguments.h"
#include "ops/io/line_reader.h"
#include "ops/unpacked_files.h"

namespace penstock {
namespace ops {
namespace {

using io::LineBlock;

std::size_t checked_length(std::int64_t max_line_bytes) {
  constexpr auto most = static_cast<std::int64_t>(io::LineReader::kLongest);
  if (max_line_bytes < 1 || max_line_bytes > most)
    graph::reject("max_line_bytes", "at least 1 and at most " + std::to_string(most), max_line_bytes);
  return static_cast<std::size_t>(max_line_bytes);
}

// The lines of a block, each a string when its turn comes: the block stays until then.
class LinesOfBlock final : public detail::Results {
 public:
  explicit LinesOfBlock(LineBlock block) : block_(std::move(block)) {}
  std::size_t size() const noexcept override { return block_.size(); }
  Element take(std::size_t i) override { return Element(std::string(block_[i])); }
  std::size_t bytes() const override { return bytes_of_list(); }
  std::size_t bytes_of_list() const noexcept override { return bytes_of(block_); }
  bool bytes_are_known() const noexcept override { return true; }

 private:
  LineBlock block_;
};

}  // namespace

// One file after the other.
class LinesOp::Reader final : public SourceReader {
 public:
  explicit Reader(const LinesOp& op) : op_(op) {}

  std::string origin(const Stamp& element) const override {
    const MutexLock lock(mutex_);
    const auto behind = std::ranges::upper_bound(begins_, element.ordinal);
    return behind == begins_.begin() ? std::string()
                                     : op_.paths_[static_cast<std::size_t>(behind - begins_.begin()) - 1];
  }

  void begin_pass(std::uint32_t, std::uint32_t) override {
    file_.reset();
    next_ = 0;
  }

  std::optional<Element> next(Context& context) override {
    while (!context.stop_token().stop_requested()) {
      if (!file_ && !open_next(context.ordinal())) break;
      if (auto block = file_->next(context.stop_token())) return Element(std::move(*block));
      file_.reset();
    }
    return std::nullopt;
  }

 private:
  // False: there is none. Who throws has had its turn.
  bool open_next(std::int64_t ordinal) {
    if (next_ == op_.paths_.size()) return false;
    note_begin(ordinal);
    const std::string& path = op_.paths_[next_++];
    file_.emplace(*op_.files_, path, op_.max_line_bytes_);
    return true;
  }

  // Of the next file. Those behind it keep what they had in the pass before, whose elements may still be on their way.
  void note_begin(std::int64_t ordinal) {
    const MutexLock lock(mutex_);
    if (next_ == begins_.size()) begins_.push_back(ordinal);
    begins_[next_] = ordinal;
    for (std::size_t i = next_ + 1; i < begins_.size() && begins_[i] < ordinal; ++i) begins_[i] = ordinal;
  }

  const LinesOp& op_;
  std::size_t next_ = 0;  // file
  std::optional<io::LineReader> file_;
  mutable Mutex mutex_;
  std::vector<std::int64_t> begins_ GUARDED_BY(mutex_);  // which element was the first of each file
};

LinesOp::LinesOp(io::FileSystemRef files, std::vector<std::string> paths, const LinesOptions& options)
    : files_(std::move(files)), paths_(std::move(paths)), max_line_bytes_(checked_length(options.max_line_bytes)) {}

std::string LinesOp::parameters() const {
  const std::string first = paths_.empty() ? "" : paths_.front() + ", ";
  const std::string noun = paths_.size() == 1 ? " file" : " files";
  return first + std::to_string(paths_.size()) + noun + ", max_line_bytes=" + std::to_string(max_line_bytes_);
}

std::unique_ptr<SourceReader> LinesOp::open() const { return std::make_unique<Reader>(*this); }

std::optional<std::size_t> SplitLinesOp::outputs_of(const Element& input) const {
  return input.get<LineBlock>().size();
}

// Of a string's block on the heap it is known to a few bytes.
std::optional<std::size_t> SplitLinesOp::bytes_hint(const Element& input) const {
  const auto& block = input.get<LineBlock>();
  return bytes_of(block) + block.line_bytes() + block.size() * (sizeof(std::string) + detail::heap_block(1));
}

void SplitLinesOp::run(std::span<Slot> slots, Context& context) const {
  detail::for_each_slot(slots, context, false,
                        [](Slot& slot) { slot.emit_many(std::make_unique<LinesOfBlock>(slot.take<LineBlock>())); });
}

OpRef lines(io::FileSystemRef files, std::vector<std::string> paths, const LinesOptions& options) {
  return std::make_shared<LinesOp>(std::move(files), std::move(paths), options);
}

OpRef split_lines() { return std::make_shared<SplitLinesOp>(); }

}  // namespace ops

Dataset<std::string> lines(std::vector<std::string> paths, const LinesOptions& options, CallSite site) {
  const auto blocks = graph::build(nullptr, "lines", site, [&] {
    return ops::lines(ops::unpacked(io::local_file_system()), std::move(paths), options);
  });
  return Dataset<std::string>(graph::append(blocks, ops::split_lines(), site));
}

}  // namespace penstock
