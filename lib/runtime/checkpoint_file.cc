#include "lib/runtime/checkpoint_file.h"

#include <penstock/checkpoint_file.h>
#include <penstock/error.h>
#include <penstock/io.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lib/base/text.h"
#include "lib/runtime/checkpoint.h"
#include "ops/io/open_file.h"
#include "ops/io/read_file.h"

namespace penstock {
namespace runtime {
namespace {

constexpr auto kMostBytes = static_cast<std::int64_t>(kLargestSavePoint + 2 * kLongestPipeline);

// What is at a path.
struct Found {
  std::string bytes;                                       // of a whole one
  std::shared_ptr<const Checkpoint> checkpoint = nullptr;  // null: there is none, or
  std::optional<Error> damage = std::nullopt;              // it is damaged
};

std::string previous_of(const std::string& path) { return path + ".previous"; }

Error damage_of(const std::string& path, const std::string& what) {
  return {ErrorCode::data_loss, "cannot load the checkpoint " + in_quotes(path) + ": " + what};
}

Found find(const io::FileSystem& files, const std::string& path) {
  const auto [status, error] = files.status(path);
  if (error == 0 && status.kind == io::FileKind::regular && std::cmp_greater(status.version.size, kMostBytes))
    return {.bytes = {},
            .damage = damage_of(path, "it has " + std::to_string(status.version.size) + " bytes, more than any has")};
  const auto read = io::read_file_if_there(files, path, {.max_bytes = kMostBytes});
  if (!read) return {};
  std::string bytes(reinterpret_cast<const char*>(read->data()), read->bytes());
  try {
    auto checkpoint = std::make_shared<const Checkpoint>(Checkpoint::from_bytes(bytes));
    return {.bytes = std::move(bytes), .checkpoint = std::move(checkpoint)};
  } catch (const Error& fault) {
    if (fault.code() != ErrorCode::data_loss) throw;
    return {.bytes = {}, .damage = damage_of(path, fault.what())};
  }
}

void publish(const io::FileSystem& files, const std::string& path, const std::string& bytes) {
  auto created = files.create(path);
  if (created.error != 0) throw io::file_error("write", path, created.error);
  io::write_all(*created.value, std::as_bytes(std::span(bytes)), path);
  if (const int error = created.value->publish()) throw io::file_error("write", path, error);
}

}  // namespace

// The older one first: so there is a whole newest one at any time.
void save_checkpoint(const io::FileSystem& files, const std::string& path, const Checkpoint& checkpoint) {
  const std::string bytes = checkpoint.to_bytes();
  const Found before = find(files, path);
  if (before.bytes == bytes) return;
  if (before.checkpoint) publish(files, previous_of(path), before.bytes);
  publish(files, path, bytes);
}

std::shared_ptr<const Checkpoint> load_checkpoint(const io::FileSystem& files, const std::string& path) {
  Found newest = find(files, path);
  if (newest.checkpoint) return newest.checkpoint;
  Found previous = find(files, previous_of(path));
  if (newest.damage && !previous.checkpoint) throw Error(*newest.damage);
  if (previous.damage) throw Error(*previous.damage);
  if (previous.checkpoint)
    std::fprintf(stderr, "penstock: load_checkpoint goes on with %s, for %s\n", in_quotes(previous_of(path)).c_str(),
                 newest.damage ? newest.damage->what() : (in_quotes(path) + " is not there").c_str());
  return previous.checkpoint;
}

}  // namespace runtime

namespace {

std::string place_of(const Checkpoint& checkpoint) {
  if (!checkpoint.save_point.empty())
    return "by replay from a save point, and leaves out the last " + std::to_string(checkpoint.since_save_point);
  if (checkpoint.kind == Checkpoint::Kind::replay) return "by replay: runs the epoch again, and leaves these out";
  if (!checkpoint.has_last) return "by position, from the beginning of the epoch";
  return "by position, behind element " + std::to_string(checkpoint.last.ordinal) + " of the source, in pass " +
         std::to_string(checkpoint.last.pass);
}

}  // namespace

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  runtime::save_checkpoint(*io::local_file_system(), path, checkpoint);
}

std::shared_ptr<const Checkpoint> load_checkpoint(const std::string& path) {
  return runtime::load_checkpoint(*io::local_file_system(), path);
}

std::string to_text(const Checkpoint& checkpoint) {
  std::string text = "epoch " + std::to_string(checkpoint.epoch) + (checkpoint.epoch_ended ? ", at its end" : "") +
                     ", behind " + std::to_string(checkpoint.delivered) + " elements and errors";
  if (checkpoint.errors_since > 0) text += ", the last " + std::to_string(checkpoint.errors_since) + " of them errors";
  text += checkpoint.epoch_ended ? "\n" : "\ngoes on " + place_of(checkpoint) + "\n";
  return text + checkpoint.pipeline;
}

}  // namespace penstock
