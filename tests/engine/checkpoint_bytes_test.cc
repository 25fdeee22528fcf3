// Checkpoints as bytes: what is written can be read for ever, and nothing else is taken for it.
#include <functional>
#include <memory>

#include "lib/core/crc32.h"
#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;

// Made with Python: struct.pack("<IIIqqBBBIqQ", ...) and zlib.crc32.
constexpr std::string_view kGoldenFull =
    "50454e5354434b50010000005200000004030201887766554433221102000000"
    "00000000000101070000000807060504030201f8f7f6f5f4f3f2f1302072616e"
    "67652835290a31206d617028290ae6309d04";
constexpr std::string_view kGoldenEmpty =
    "50454e5354434b50010000003f00000000000000000000000000000000000000"
    "000000000100000000000000000000000000000000000000000000303fc792";

std::string hex(const std::string& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += {digits[value >> 4], digits[value & 15u]};
  }
  return text;
}

std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return bytes;
}

Checkpoint full() {
  Checkpoint checkpoint;
  checkpoint.kind = Checkpoint::Kind::position;
  checkpoint.pipeline = "0 range(5)\n1 map()\n";
  checkpoint.epoch = 0x01020304;
  checkpoint.delivered = 0x1122334455667788;
  checkpoint.epoch_ended = true;
  checkpoint.has_last = true;
  checkpoint.last = {.epoch = 0x01020304, .pass = 7, .ordinal = 0x0102030405060708, .sub = 0xF1F2F3F4F5F6F7F8};
  checkpoint.errors_since = 2;
  return checkpoint;
}

// The bytes with some of them replaced and the checksum made good: well-formed, whatever they say.
std::string with(std::string bytes, std::size_t place, std::string_view replacement) {
  bytes.replace(place, replacement.size(), replacement);
  const std::size_t end = bytes.size() - 4;
  const std::uint32_t sum = crc32(std::string_view(bytes).substr(0, end));
  for (std::size_t i = 0; i < 4; ++i) bytes[end + i] = static_cast<char>(sum >> (8 * i));
  return bytes;
}

TEST(CheckpointBytes, OfVersionOneStayWhatTheyAre) {
  EXPECT_EQ(hex(full().to_bytes()), kGoldenFull);
  EXPECT_EQ(hex(Checkpoint().to_bytes()), kGoldenEmpty);
}

TEST(CheckpointBytes, AreReadBackFieldByField) {
  const Checkpoint read = Checkpoint::from_bytes(from_hex(kGoldenFull));
  const Checkpoint expected = full();
  EXPECT_EQ(read.kind, expected.kind);
  EXPECT_EQ(read.pipeline, expected.pipeline);
  EXPECT_EQ(read.epoch, expected.epoch);
  EXPECT_EQ(read.delivered, expected.delivered);
  EXPECT_EQ(read.epoch_ended, expected.epoch_ended);
  EXPECT_EQ(read.has_last, expected.has_last);
  EXPECT_EQ(read.last.epoch, expected.last.epoch);
  EXPECT_EQ(read.last.pass, expected.last.pass);
  EXPECT_EQ(read.last.ordinal, expected.last.ordinal);
  EXPECT_EQ(read.last.sub, expected.last.sub);
  EXPECT_EQ(read.errors_since, expected.errors_since);
}

TEST(CheckpointBytes, OfNothingDeliveredAreReadBack) {
  const Checkpoint read = Checkpoint::from_bytes(from_hex(kGoldenEmpty));
  EXPECT_EQ(read.kind, Checkpoint::Kind::replay);
  EXPECT_EQ(read.delivered, 0);
  EXPECT_FALSE(read.epoch_ended || read.has_last);
  EXPECT_EQ(read.pipeline, "");
}

// At every position of pipelines of both kinds.
template <class T> void expect_resumes_from_bytes(const Dataset<T>& data) {
  auto run = data.start();
  Texts whole = rest_of(run);
  auto second = data.start();
  for (std::size_t taken = 0; taken <= whole.size(); ++taken) {
    const std::string bytes = second.checkpoint().to_bytes();
    auto again = data.start({.resume_from = std::make_shared<Checkpoint>(Checkpoint::from_bytes(bytes))});
    EXPECT_EQ(again.checkpoint().to_bytes(), bytes) << taken;
    ASSERT_EQ(rest_of(again), Texts(whole.begin() + static_cast<std::ptrdiff_t>(taken), whole.end())) << taken;
    next_text(second);
  }
}

TEST(CheckpointBytes, AreResumedFromLikeTheCheckpoint) {
  const auto pairs = [](std::int64_t value) { return std::vector<std::int64_t>(2, value); };
  expect_resumes_from_bytes(range(9).shuffle(9, {.seed = 3}).map(failing_at(4)).batch(2));
  expect_resumes_from_bytes(range(5).map(pairs).unbatch().repeat(2));
  expect_resumes_from_bytes(range(9).map(plus_one).shuffle(4, {.seed = 3}).take(7));
}

TEST(CheckpointBytes, CutShortAnywhereAreRefused) {
  const std::string bytes = full().to_bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    SCOPED_TRACE(length);
    EXPECT_ERROR(Checkpoint::from_bytes(std::string_view(bytes).substr(0, length)), ErrorCode::data_loss, "at byte");
  }
}

TEST(CheckpointBytes, WithAnyByteChangedAreRefused) {
  const std::string bytes = full().to_bytes();
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    for (int change = 1; change < 256; ++change) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(damaged[place] ^ change);
      SCOPED_TRACE(std::to_string(place) + " ^ " + std::to_string(change));
      EXPECT_ERROR(Checkpoint::from_bytes(damaged), ErrorCode::data_loss, "Take another copy or an earlier checkpoint");
    }
  }
}

TEST(CheckpointBytes, FollowedByOthersAreRefused) {
  const std::string bytes = full().to_bytes();
  EXPECT_ERROR(Checkpoint::from_bytes(bytes + '\n'), ErrorCode::data_loss,
               "at byte 12, the length is 82, but there are 83 bytes");
  EXPECT_ERROR(Checkpoint::from_bytes(bytes + bytes), ErrorCode::data_loss, "but there are 164 bytes");
}

TEST(CheckpointBytes, OfAnotherFileAreRefused) {
  EXPECT_ERROR(Checkpoint::from_bytes("{\"epoch\": 3}"), ErrorCode::data_loss, "at byte 0, there is no \"PENSTCKP\"");
}

TEST(CheckpointBytes, OfANewerVersionSayThatThePenstockIsTooOld) {
  const std::string newer = with(full().to_bytes(), 8, std::string_view("\x03\x00\x00\x00", 4));
  EXPECT_ERROR(Checkpoint::from_bytes(newer), ErrorCode::unimplemented,
               "version 3 (at byte 8), but this library reads up to 2");
  const std::string none = with(full().to_bytes(), 8, std::string_view("\x00\x00\x00\x00", 4));
  EXPECT_ERROR(Checkpoint::from_bytes(none), ErrorCode::data_loss, "the version is 0");
}

TEST(CheckpointBytes, ThatContradictThemselvesAreRefusedWithTheByte) {
  const std::string_view negative("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8), zero("\0\0\0\0\0\0\0\0", 8);
  const auto refused = [](std::size_t place, std::string_view value, const std::string& text) {
    EXPECT_ERROR(Checkpoint::from_bytes(with(full().to_bytes(), place, value)), ErrorCode::data_loss, text);
  };
  refused(20, negative, "at byte 20, delivered is -1, but cannot be negative");
  refused(20, zero, "at byte 28, errors_since is 2, more than all that were delivered: delivered is 0");
  refused(28, negative, "at byte 28, errors_since is -1");
  refused(36, "\x02", "at byte 36, kind is 2, but must be 0 or 1");
  refused(37, "\x02", "at byte 37, epoch_ended is 2");
  refused(38, "\xFF", "at byte 38, has_last is 255");
  refused(38, std::string_view("\0", 1), "at byte 39, there is a last element, but has_last is 0");
  refused(43, negative, "at byte 43, last.ordinal is -1");
  EXPECT_ERROR(Checkpoint::from_bytes(with(Checkpoint().to_bytes(), 38, "\x01")), ErrorCode::data_loss,
               "at byte 38, has_last does not fit");
}

TEST(CheckpointBytes, HoldAPipelineOfUpToOneMebibyte) {
  Checkpoint checkpoint = full();
  checkpoint.pipeline.assign(MiB, 'x');
  EXPECT_EQ(Checkpoint::from_bytes(checkpoint.to_bytes()).pipeline, checkpoint.pipeline);
  checkpoint.pipeline += 'x';
  EXPECT_ERROR(checkpoint.to_bytes(), ErrorCode::resource_exhausted, "1048577 bytes");
}

TEST(CheckpointBytes, OfALongerPipelineAreRefusedThoughTheyAreWhole) {
  std::string bytes = full().to_bytes();
  bytes.insert(bytes.size() - 4, MiB, 'x');
  const std::string_view length("\x52\x00\x10\x00", 4);
  EXPECT_ERROR(Checkpoint::from_bytes(with(bytes, 12, length)), ErrorCode::data_loss, "longer than 1 MiB");
}

TEST(CheckpointBytes, AreNotMadeOfWhatNoRunSays) {
  const auto refused = [](const std::function<void(Checkpoint&)>& change, const std::string& text) {
    Checkpoint checkpoint = full();
    change(checkpoint);
    EXPECT_ERROR(checkpoint.to_bytes(), ErrorCode::invalid_argument, text);
  };
  refused([](Checkpoint& c) { c.delivered = -1; }, "delivered is -1");
  refused([](Checkpoint& c) { c.kind = static_cast<Checkpoint::Kind>(2); }, "kind is neither");
  refused([](Checkpoint& c) { c.last.ordinal = -5; }, "last.ordinal is -5");
  refused([](Checkpoint& c) { c.has_last = false; }, "has_last does not fit");
}

}  // namespace
}  // namespace penstock
