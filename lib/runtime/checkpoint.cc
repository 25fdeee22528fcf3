// Checkpoint as bytes. Version 1, and 2 where there is a save point; all numbers little-endian:
//
//   byte  0  "PENSTCKP"
//         8  version       u32
//        12  length        u32, of everything from byte 0 on
//        16  epoch         u32
//        20  delivered     i64
//        28  errors_since  i64
//        36  kind          u8, 0 position, 1 replay
//        37  epoch_ended   u8, 0 or 1
//        38  has_last      u8, 0 or 1
//        39  last.pass     u32; this and the next two are 0 without has_last
//        43  last.ordinal  i64
//        51  last.sub      u64
//        59  since         i64, since_save_point; this and the next two in version 2 alone
//        67  size          u32
//        71  save_point    of that size
//        59  pipeline      up to the checksum; in version 2 behind the save point
//   length-4 checksum      u32, CRC-32 of all bytes before it
//
// Every later version keeps magic, version, length and checksum, so that damage is told from age.
#include "lib/runtime/checkpoint.h"

#include <concepts>
#include <string_view>

#include "lib/core/crc32.h"

namespace penstock {
namespace {

using runtime::CheckpointFault;
using runtime::kLargestSavePoint;
using runtime::kLongestPipeline;

constexpr std::string_view kMagic = "PENSTCKP";
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kChecksumBytes = 4;
constexpr std::int64_t kMostDelivered = std::int64_t{1} << 62;  // so that counting on never overflows

enum Place : std::size_t {
  version_at = 8,
  length_at = 12,
  epoch_at = 16,
  delivered_at = 20,
  errors_since_at = 28,
  kind_at = 36,
  epoch_ended_at = 37,
  has_last_at = 38,
  pass_at = 39,
  ordinal_at = 43,
  sub_at = 51,
  pipeline_at = 59,
  since_at = 59,
  save_point_size_at = 67,
  save_point_at = 71,
};
constexpr std::size_t kFixedBytes = pipeline_at + kChecksumBytes;

// Where the pipeline's text begins. In version 2 the caller has looked that the numbers before it are there.
std::size_t pipeline_place(std::uint32_t version, std::size_t save_point_bytes) {
  return version == 1 ? std::size_t{pipeline_at} : save_point_at + save_point_bytes;
}

template <std::integral Number> void append(std::string& bytes, Number number) {
  auto rest = static_cast<std::uint64_t>(number);
  for (std::size_t i = 0; i < sizeof(Number); ++i, rest >>= 8) bytes.push_back(static_cast<char>(rest & 0xFFu));
}

// The caller has looked that it is there.
template <std::integral Number> Number number_at(std::string_view bytes, std::size_t place) {
  std::uint64_t number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[place + i]);
  return static_cast<Number>(number);
}

[[noreturn]] void damaged(std::size_t byte, const std::string& text) {
  throw Error(ErrorCode::data_loss, "these bytes are not a whole checkpoint: at byte " + std::to_string(byte) + ", " +
                                        text + ". Take another copy or an earlier checkpoint");
}

void check_frame(std::string_view bytes) {
  const std::string size = std::to_string(bytes.size());
  if (!bytes.starts_with(kMagic)) damaged(0, "there is no \"" + std::string(kMagic) + "\"; perhaps it is another file");
  if (bytes.size() < epoch_at + kChecksumBytes) damaged(bytes.size(), "they end, in the middle of the header");
  const auto length = number_at<std::uint32_t>(bytes, length_at);
  if (length > bytes.size())
    damaged(length_at, "the length is " + std::to_string(length) + ", but there are only " + size + " bytes");
  if (length < bytes.size())
    damaged(length_at, "the length is " + std::to_string(length) + ", but there are " + size + " bytes");
  const std::size_t end = bytes.size() - kChecksumBytes;
  if (crc32(bytes.substr(0, end)) != number_at<std::uint32_t>(bytes, end)) {
    damaged(end, "the checksum is another one than that of the bytes before it: some were changed");
  }
}

void check_version(std::string_view bytes) {
  const auto version = number_at<std::uint32_t>(bytes, version_at);
  if (version == 0) damaged(version_at, "the version is 0");
  if (version <= kVersion) return;
  throw Error(ErrorCode::unimplemented, "this checkpoint has version " + std::to_string(version) + " (at byte " +
                                            std::to_string(version_at) + "), but this library reads up to " +
                                            std::to_string(kVersion) +
                                            ". Resume with the penstock that wrote it, or a newer one");
}

void check_pipeline_length(std::size_t bytes) {
  if (bytes > kLongestPipeline) damaged(length_at, "the pipeline's text is longer than 1 MiB");
}

// Before any byte of the content is looked at.
void check_length(std::string_view bytes) {
  if (bytes.size() < kFixedBytes)
    damaged(bytes.size(), "they end, but the shortest checkpoint has " + std::to_string(kFixedBytes));
  if (number_at<std::uint32_t>(bytes, version_at) == 1) return check_pipeline_length(bytes.size() - kFixedBytes);
  const std::size_t end = bytes.size() - kChecksumBytes;
  if (end < save_point_at) damaged(bytes.size(), "they end, in the middle of the header");
  const auto size = number_at<std::uint32_t>(bytes, save_point_size_at);
  if (size == 0 || size > end - save_point_at)
    damaged(save_point_size_at, "the save point has " + std::to_string(size) + " bytes, but " +
                                    std::to_string(end - save_point_at) + " are left");
  check_pipeline_length(end - save_point_at - size);
}

bool flag_at(std::string_view bytes, std::size_t place, const char* name) {
  const auto value = number_at<std::uint8_t>(bytes, place);
  if (value > 1) damaged(place, std::string(name) + " is " + std::to_string(value) + ", but must be 0 or 1");
  return value == 1;
}

Stamp last_of(std::string_view bytes, std::uint32_t epoch, bool has_last) {
  Stamp last{.epoch = has_last ? epoch : 0, .pass = number_at<std::uint32_t>(bytes, pass_at)};
  last.ordinal = number_at<std::int64_t>(bytes, ordinal_at);
  last.sub = number_at<std::uint64_t>(bytes, sub_at);
  if (!has_last && (last.pass != 0 || last.ordinal != 0 || last.sub != 0)) {
    damaged(pass_at, "there is a last element, but has_last is 0");
  }
  return last;
}

std::string counted(const char* name, std::int64_t value) { return std::string(name) + " is " + std::to_string(value); }

std::optional<CheckpointFault> fault_of_counts(const Checkpoint& checkpoint) {
  const std::string delivered = counted("delivered", checkpoint.delivered);
  const std::string errors = counted("errors_since", checkpoint.errors_since);
  if (checkpoint.delivered < 0) return CheckpointFault{delivered_at, delivered + ", but cannot be negative"};
  if (checkpoint.delivered > kMostDelivered)
    return CheckpointFault{delivered_at, delivered + ", more than any run delivers"};
  if (checkpoint.errors_since < 0) return CheckpointFault{errors_since_at, errors + ", but cannot be negative"};
  if (checkpoint.errors_since > checkpoint.delivered) {
    return CheckpointFault{errors_since_at, errors + ", more than all that were delivered: " + delivered};
  }
  const bool has_element = checkpoint.errors_since < checkpoint.delivered;
  if (checkpoint.has_last != has_element) {
    return CheckpointFault{has_last_at, "has_last does not fit: " + delivered + " and " + errors};
  }
  return std::nullopt;
}

std::optional<CheckpointFault> fault_of_save_point(const Checkpoint& checkpoint) {
  const std::string since = counted("since_save_point", checkpoint.since_save_point);
  if (checkpoint.save_point.empty()) {
    if (checkpoint.since_save_point == 0) return std::nullopt;
    return CheckpointFault{since_at, since + ", but there is no save point"};
  }
  if (checkpoint.kind != Checkpoint::Kind::replay || checkpoint.epoch_ended)
    return CheckpointFault{since_at, "there is a save point, but the run goes on without one"};
  if (checkpoint.since_save_point < 0 || checkpoint.since_save_point > checkpoint.delivered)
    return CheckpointFault{since_at, since + ", but must be between 0 and all that were delivered"};
  return std::nullopt;
}

}  // namespace

std::optional<CheckpointFault> runtime::fault_of(const Checkpoint& checkpoint) {
  if (checkpoint.kind > Checkpoint::Kind::replay)
    return CheckpointFault{kind_at, "kind is neither position nor replay"};
  if (auto fault = fault_of_counts(checkpoint)) return fault;
  if (checkpoint.has_last && checkpoint.last.ordinal < 0) {
    return CheckpointFault{ordinal_at, counted("last.ordinal", checkpoint.last.ordinal) + ", but cannot be negative"};
  }
  return fault_of_save_point(checkpoint);
}

void runtime::check_made_by_a_run(const Checkpoint& checkpoint) {
  const auto fault = fault_of(checkpoint);
  if (!fault) return;
  throw Error(ErrorCode::invalid_argument,
              "this checkpoint was not made by a run: " + fault->text + ". Use run.checkpoint()");
}

std::string Checkpoint::to_bytes() const {
  runtime::check_made_by_a_run(*this);
  if (pipeline.size() > kLongestPipeline) {
    throw Error(ErrorCode::resource_exhausted,
                "the pipeline's text has " + std::to_string(pipeline.size()) +
                    " bytes, but a checkpoint holds at most 1 MiB of it. Shorten the ops' parameters()");
  }
  if (save_point.size() > kLargestSavePoint) {
    throw Error(ErrorCode::resource_exhausted,
                "the save point has " + std::to_string(save_point.size()) +
                    " bytes, but a checkpoint holds at most 256 MiB of it. Make shuffle buffers and windows smaller");
  }
  const std::uint32_t version = save_point.empty() ? 1 : 2;
  const std::size_t before = pipeline_place(version, save_point.size());
  const Stamp stamp = has_last ? last : Stamp();
  std::string bytes(kMagic);
  append(bytes, version);
  append(bytes, static_cast<std::uint32_t>(before + pipeline.size() + kChecksumBytes));
  append(bytes, epoch);
  append(bytes, delivered);
  append(bytes, errors_since);
  append(bytes, static_cast<std::uint8_t>(kind));
  append(bytes, static_cast<std::uint8_t>(epoch_ended));
  append(bytes, static_cast<std::uint8_t>(has_last));
  append(bytes, stamp.pass);
  append(bytes, stamp.ordinal);
  append(bytes, stamp.sub);
  if (version > 1) {
    append(bytes, since_save_point);
    append(bytes, static_cast<std::uint32_t>(save_point.size()));
    bytes += save_point;
  }
  bytes += pipeline;
  append(bytes, crc32(bytes));
  return bytes;
}

Checkpoint Checkpoint::from_bytes(std::string_view bytes) {
  check_frame(bytes);
  check_version(bytes);
  check_length(bytes);
  Checkpoint read;
  read.kind = flag_at(bytes, kind_at, "kind") ? Kind::replay : Kind::position;
  read.epoch = number_at<std::uint32_t>(bytes, epoch_at);
  read.delivered = number_at<std::int64_t>(bytes, delivered_at);
  read.errors_since = number_at<std::int64_t>(bytes, errors_since_at);
  read.epoch_ended = flag_at(bytes, epoch_ended_at, "epoch_ended");
  read.has_last = flag_at(bytes, has_last_at, "has_last");
  read.last = last_of(bytes, read.epoch, read.has_last);
  const auto version = number_at<std::uint32_t>(bytes, version_at);
  if (version > 1) {
    read.since_save_point = number_at<std::int64_t>(bytes, since_at);
    read.save_point = bytes.substr(save_point_at, number_at<std::uint32_t>(bytes, save_point_size_at));
  }
  if (const auto fault = runtime::fault_of(read)) damaged(fault->byte, fault->text);
  const std::size_t text = pipeline_place(version, read.save_point.size());
  read.pipeline = bytes.substr(text, bytes.size() - kChecksumBytes - text);
  return read;
}

}  // namespace penstock
