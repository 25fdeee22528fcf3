#include <penstock/checkpoint.h>

#include <algorithm>
#include <memory>

#include "lib/core/crc32.h"
#include "tests/fuzz/pipelines.h"
#include "tests/fuzz/targets.h"

namespace penstock::fuzz {
namespace {

constexpr std::size_t kFixedBytes = 63;

void put(std::string& bytes, std::size_t place, std::uint32_t number) {
  for (std::size_t i = 0; i < 4; ++i) bytes[place + i] = static_cast<char>(number >> (8 * i));
}

// The bytes with magic, a version, length and checksum as they must be, so that the content is looked at.
std::string made_good(std::string_view content) {
  std::string bytes(content);
  bytes.resize(std::max(bytes.size(), kFixedBytes));
  bytes.replace(0, 8, "PENSTCKP");
  put(bytes, 8, bytes[8] == 2 ? 2 : 1);
  put(bytes, 12, static_cast<std::uint32_t>(bytes.size()));
  const std::size_t end = bytes.size() - 4;
  put(bytes, end, crc32(std::string_view(bytes).substr(0, end)));
  return bytes;
}

bool is_suffix(const Values& rest, const Values& whole) {
  return rest.size() <= whole.size() && std::equal(rest.rbegin(), rest.rend(), whole.rbegin());
}

void check_resuming(Checkpoint checkpoint, const Pipeline& pipeline) {
  auto fresh = pipeline.data.start({.first_epoch = checkpoint.epoch, .serial = true});
  if (checkpoint.pipeline.empty()) checkpoint.pipeline = fresh.checkpoint().pipeline;
  const bool is_replay = fresh.checkpoint().kind == Checkpoint::Kind::replay;
  const RunOptions options{.serial = true, .resume_from = std::make_shared<Checkpoint>(checkpoint)};
  std::optional<Run<Values>> run, again;
  if (!succeeds([&] { run.emplace(pipeline.data.start(options)); })) return;
  again.emplace(pipeline.data.start(options));
  Checkpoint stands = run->checkpoint();
  // What it says may be written in other bytes, or be of other ops or rewrites: then the epoch is replayed.
  stands.save_point = checkpoint.save_point;
  stands.since_save_point = checkpoint.since_save_point;
  require(stands.to_bytes() == checkpoint.to_bytes(), "a resumed run stands where the checkpoint says");
  if (pipeline.is_endless && is_replay) return;  // replays as long as it is told to
  const Rest rest = rest_of(*run);
  require(rest.values == rest_of(*again).values, "resuming twice gives the same");
  if (checkpoint.epoch_ended) require(rest.values.empty(), "nothing is left of an epoch that has ended");
  if (!pipeline.is_endless && checkpoint.save_point.empty())
    require(is_suffix(rest.values, rest_of(fresh).values), "what is left is the end of the epoch");
}

}  // namespace

void checkpoint(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const Pipeline& pipeline = pipelines()[static_cast<unsigned char>(bytes[0]) % pipelines().size()];
  const std::string given = bytes[1] % 2 == 0 ? std::string(bytes.substr(2)) : made_good(bytes.substr(2));
  Checkpoint read;
  if (!succeeds([&] { read = Checkpoint::from_bytes(given); })) return;
  require(read.to_bytes() == given, "what is read is what is written");
  check_resuming(read, pipeline);
}

}  // namespace penstock::fuzz
