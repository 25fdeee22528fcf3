#include "ops/io/line_reader.h"

#include <penstock/tensor.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/base/text.h"
#include "ops/io/open_file.h"

namespace penstock::io {
namespace {

constexpr std::size_t kLeastRoom = 4096;  // what says that it has no bytes may have some, as in /proc

// Without the '\r' before the '\n' that lies at `end`.
std::size_t length_of_line(const char* text, std::size_t begin, std::size_t end) noexcept {
  return end - begin - (end > begin && text[end - 1] == '\r' ? 1 : 0);
}

}  // namespace

LineReader::LineReader(const FileSystem& files, std::string path, std::size_t max_line_bytes)
    : path_(std::move(path)),
      max_line_bytes_(max_line_bytes),
      file_(open_for_reading(files, path_)),
      expected_(version_of(*file_, path_).size) {}

std::optional<LineBlock> LineReader::next(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (is_inside_long_line_) pass_over_long_line();
    LineBlock block = whole_lines();
    if (block.size() > 0) return block;
    refuse_long_line();
    if (has_ended_) return last_line();
    read_on(stop);
  }
  return std::nullopt;
}

// Where the next '\n' lies, as far as is read.
std::optional<std::size_t> LineReader::line_end() const noexcept {
  if (begin_ == end_) return std::nullopt;
  const auto* found = static_cast<const char*>(std::memchr(text() + begin_, '\n', waiting()));
  return found == nullptr ? std::nullopt : std::optional(static_cast<std::size_t>(found - text()));
}

// All that have an end, up to one that is too long.
LineBlock LineReader::whole_lines() {
  LineBlock block;
  if (begin_ == end_) return block;
  block.lines_.reserve(usual_);
  while (const auto end = line_end()) {
    const std::size_t bytes = length_of_line(text(), begin_, *end);
    if (bytes > max_line_bytes_) break;
    add(block, begin_, begin_ + bytes);
    begin_ = *end + 1;
  }
  usual_ = block.size();
  number_ += static_cast<std::int64_t>(block.size());
  return block;
}

void LineReader::add(LineBlock& block, std::size_t begin, std::size_t end) const {
  if (block.lines_.empty()) {
    block.text_ = text_;
    block.text_bytes_ = capacity_;
  }
  block.lines_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)});
  block.line_bytes_ += end - begin;
}

// What the file's end ends, unless it is no end.
std::optional<LineBlock> LineReader::last_line() {
  const int error = error_;
  const std::size_t expected = expected_;
  LineBlock block;
  if (error == 0 && begin_ < end_) add(block, begin_, end_);
  give_up();
  if (error != 0) throw file_error("read line " + std::to_string(number_) + " of", path_, error);
  if (got_ < expected) throw shrinking_error(path_, expected, got_);
  return block.size() > 0 ? std::optional(std::move(block)) : std::nullopt;
}

void LineReader::pass_over_long_line() noexcept {
  const auto end = line_end();
  is_inside_long_line_ = !end;
  begin_ = end ? *end + 1 : end_;
}

// Of one whose end is not read yet, the last byte may belong to that.
void LineReader::refuse_long_line() {
  const auto end = line_end();
  const std::size_t bytes = end ? length_of_line(text(), begin_, *end) : waiting() - (has_ended_ ? 0 : 1);
  if (begin_ == end_ || bytes <= max_line_bytes_) return;
  pass_over_long_line();
  throw Error(ErrorCode::data_loss, "cannot read line " + std::to_string(number_++) + " of " + in_quotes(path_) +
                                        ": it has more than " + std::to_string(max_line_bytes_) +
                                        " bytes (max_line_bytes, which may be raised); is it a text file?");
}

void LineReader::read_on(const std::stop_token& stop) {
  make_room();
  while (end_ < capacity_ && !has_ended_ && !stop.stop_requested()) read_some();
}

// Blocks have shares of the text that was read before, so what is left of it moves to other memory.
void LineReader::make_room() {
  const std::size_t beyond = got_ > expected_ ? got_ : 0;  // who has more than it said may have as much again
  const std::size_t rest = waiting(), small = rest + std::max({left_in_file() + 1, kLeastRoom, beyond});
  const std::size_t capacity = std::max(2 * rest, std::min(small, kChunk));
  std::shared_ptr<std::byte> next = detail::allocate_payload(capacity);
  if (rest > 0) std::memcpy(next.get(), text_.get() + begin_, rest);
  text_ = std::move(next);
  capacity_ = capacity;
  begin_ = 0;
  end_ = rest;
}

void LineReader::read_some() {
  const auto [count, error] = file_->read({text_.get() + end_, capacity_ - end_});
  if (error == EINTR) return;
  error_ = error;
  has_ended_ = error != 0 || count == 0;
  got_ += count;
  end_ += count;
}

// Nothing follows.
void LineReader::give_up() noexcept {
  begin_ = end_;
  has_ended_ = true;
  error_ = 0;
  expected_ = got_;
}

}  // namespace penstock::io
