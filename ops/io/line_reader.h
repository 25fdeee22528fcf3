// LineReader: the lines of a text file, as many at a time as a chunk of it holds.
//
//   io::LineReader reader(*io::local_file_system(), "corpus.txt", 1 << 20);
//   while (const auto block = reader.next())
//     for (std::size_t i = 0; i < block->size(); ++i) use((*block)[i]);
//
// It holds a chunk of 256 KiB, or the longest line, of which it may have two copies while it grows. A small file's
// chunk is as large as the file.
#pragma once

#include <penstock/detail/pooled.h>
#include <penstock/error.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "ops/io/file_system.h"

#pragma GCC visibility push(default)

namespace penstock::io {

// Lines that lie one behind the other in memory, without what ends them. Copies share the text.
class LineBlock {
 public:
  std::size_t size() const noexcept { return lines_.size(); }
  // Holds as long as the block, or a copy of it.
  std::string_view operator[](std::size_t i) const noexcept {
    return {reinterpret_cast<const char*>(text_.get()) + lines_[i].begin, lines_[i].bytes};
  }
  std::size_t line_bytes() const noexcept { return line_bytes_; }  // of all lines together
  friend std::size_t bytes_of(const LineBlock& block) noexcept {
    return block.text_bytes_ + block.lines_.capacity() * sizeof(Line);
  }

 private:
  friend class LineReader;
  struct Line {
    std::uint32_t begin, bytes;
  };

  std::shared_ptr<const std::byte> text_;
  std::size_t text_bytes_ = 0;
  std::size_t line_bytes_ = 0;
  std::vector<Line, detail::PooledAllocator<Line>> lines_;
};

// For one thread at a time.
class LineReader {
 public:
  static constexpr std::size_t kChunk = 256 << 10;
  static constexpr std::size_t kLongest = std::size_t{1} << 30;  // that max_line_bytes may be

  // Opens the file. Errors as read_file() has them (penstock/io.h).
  LineReader(const FileSystem& files, std::string path, std::size_t max_line_bytes);

  // The next lines, at least one; nullopt behind the last one, and where `stop` was requested: it is looked at before
  // each read. A line ends with '\n', or "\r\n", or with the file. Which lines are one block depends on the file alone,
  // not on how much each read gives.
  //
  // Error: a line is longer than max_line_bytes (data_loss), and whoever asks again gets those behind it; or the rest
  // of the file cannot be read, as in read_file(), and nothing follows.
  std::optional<LineBlock> next(const std::stop_token& stop = {});

 private:
  std::size_t left_in_file() const noexcept { return expected_ > got_ ? expected_ - got_ : 0; }
  std::size_t waiting() const noexcept { return end_ - begin_; }
  const char* text() const noexcept { return reinterpret_cast<const char*>(text_.get()); }
  std::optional<std::size_t> line_end() const noexcept;
  LineBlock whole_lines();
  void add(LineBlock& block, std::size_t begin, std::size_t end) const;
  std::optional<LineBlock> last_line();
  void pass_over_long_line() noexcept;
  void refuse_long_line();
  void read_on(const std::stop_token& stop);
  void make_room();
  void read_some();
  void give_up() noexcept;

  const std::string path_;
  const std::size_t max_line_bytes_;
  const std::unique_ptr<File> file_;
  std::size_t expected_;  // bytes of the file, when it was opened
  std::size_t got_ = 0;   // of them
  bool has_ended_ = false;
  int error_ = 0;  // of the last read, while it has not been told

  std::shared_ptr<std::byte> text_;  // of which blocks have a share
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0, end_ = 0;  // of the text in it that is in no block yet
  std::int64_t number_ = 1;          // of the line at begin_
  bool is_inside_long_line_ = false;
  std::size_t usual_ = 0;  // lines in a block
};

}  // namespace penstock::io

#pragma GCC visibility pop
