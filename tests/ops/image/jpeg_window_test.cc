// Windows of JPEG files against the same windows cut out of the whole picture, by libjpeg (own_jpeg_test.cc has those
// of our own decoder).
//
//   image_test                     3,000 random windows
//   PENSTOCK_FULL=1 image_test     50,000
#include <gtest/gtest.h>
#include <penstock/image/jpeg.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/expect_error.h"
#include "tests/support/pictures/encode_jpeg.h"
#include "tests/support/pictures/random_jpeg.h"
#include "tests/support/shared_data.h"

namespace penstock::image {
namespace {

using pictures::EncodeOptions;
using pictures::JpegColour;
using Bytes = std::vector<std::byte>;
using Random = std::minstd_rand;
using pictures::draw;
using pictures::random_window;

// Slopes and edges, so that neighbours matter wherever a pixel is made of several.
std::vector<std::uint8_t> noise(Size size, int bytes_per_pixel) {
  Random random(static_cast<unsigned>(1000 * size.height + size.width));
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x)
      for (int c = 0; c < bytes_per_pixel; ++c)
        pixels.push_back(static_cast<std::uint8_t>(3 * x + 5 * y * (c + 1) + static_cast<int>(random() >> 10) % 64));
  return pixels;
}

Bytes noise_file(Size size, const EncodeOptions& how) {
  return pictures::encode_jpeg(noise(size, pictures::bytes_per_pixel(how.colour)), size.height, size.width, how);
}

struct Kind {
  const char* name;
  EncodeOptions how;
};

// Every sampling that libjpeg's compressor writes and its decompressor treats in a way of its own.
const std::vector<Kind>& samplings() {
  static const std::vector<Kind> kinds{
      {"4:4:4", {}},
      {"4:2:2", {.luma_h = 2}},
      {"4:2:0", {.luma_h = 2, .luma_v = 2}},
      {"4:4:0", {.luma_v = 2}},
      {"4:1:1", {.luma_h = 4}},
      {"4:1:0", {.luma_h = 4, .luma_v = 2}},
      {"2 x 4", {.luma_h = 2, .luma_v = 4}},
      {"1 x 4", {.luma_v = 4}},
      {"3 x 1", {.luma_h = 3}},
      {"4:4:4 told as 2 x 2", {.luma_h = 2, .luma_v = 1, .chroma_h = 2, .chroma_v = 1}},
      {"4 x 1 and 2 x 1", {.luma_h = 4, .chroma_h = 2}},
      {"finer colour than light", {.chroma_h = 2, .chroma_v = 2}},
      {"grey", {.colour = JpegColour::grey}},
      {"grey told as 2 x 2", {.colour = JpegColour::grey, .luma_h = 2, .luma_v = 2}},
      {"RGB", {.colour = JpegColour::rgb}},
      {"CMYK", {.colour = JpegColour::cmyk}},
      {"YCCK 4:2:0", {.colour = JpegColour::ycck, .luma_h = 2, .luma_v = 2}},
  };
  return kinds;
}

// The samplings, each coded in every way.
std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const Kind& kind : samplings()) {
    kinds.insert(kinds.end(), 4, kind);
    const auto coded = kinds.end() - 3;
    coded[0].how.progressive = true;
    coded[1].how.arithmetic = true;
    coded[2].how.restart_rows = 1;
  }
  return kinds;
}

std::string text_of(const Window& w) {
  return std::to_string(w.height) + " x " + std::to_string(w.width) + " at " + std::to_string(w.y) + ", " +
         std::to_string(w.x);
}

// A file with its pixels as the whole picture gives them.
struct Decoded {
  explicit Decoded(Bytes bytes, const DecodeOptions& how = {.decoder = Decoder::libjpeg})
      : file(std::move(bytes)),
        options(how),
        whole(decode_jpeg(file, options)),
        size{whole.shape()[0], whole.shape()[1]} {}

  bool gives(const Window& window) const {
    static ByteBuffer buffer;
    DecodeReport report;
    const ImagePart part = decode_jpeg(file, window, buffer, options, &report);
    return part.window == window && part.whole == size && report.warnings == 0 &&
           copy_of(part.pixels) == copy_of(view_of(whole).window(window));
  }

  Bytes file;
  DecodeOptions options;
  Tensor whole;
  Size size;
};

void check_random_windows(const Decoded& picture, int windows, Random& random, const std::string& name) {
  for (int i = 0; i < windows; ++i) {
    const Window window = random_window(random, picture.size);
    ASSERT_TRUE(picture.gives(window)) << name << ", " << picture.size.height << " x " << picture.size.width << ": "
                                       << text_of(window);
  }
}

bool in_full() { return test::is_on("PENSTOCK_FULL"); }

TEST(JpegWindow, RandomWindowsOfEveryKindEqualTheWholePicture) {
  const std::vector<Kind> kinds = all_kinds();
  const int pictures = in_full() ? 3000 : 400, windows = in_full() ? 10 : 5;
  Random random(1);
  for (int i = 0; i < pictures; ++i) {
    const Kind& kind = kinds[static_cast<std::size_t>(i) % kinds.size()];
    const std::int64_t most = draw(random, 0, 3) == 0 ? 20 : 300;
    EncodeOptions how = kind.how;
    how.quality = static_cast<int>(draw(random, 20, 99));
    const Decoded decoded(noise_file({draw(random, 1, most), draw(random, 1, most)}, how));
    ASSERT_NO_FATAL_FAILURE(check_random_windows(decoded, windows, random, kind.name));
  }
}

TEST(JpegWindow, RandomWindowsOfRealFilesEqualTheWholePicture) {
  PENSTOCK_NEEDS_SHARED("data");
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::shared_folder() / "data"))
    if (entry.path().extension() == ".JPEG" || entry.path().extension() == ".jpg")
      paths.push_back(entry.path().string());
  ASSERT_GE(paths.size(), 200U);
  std::sort(paths.begin(), paths.end());
  const int all = in_full() ? 20'000 : 1000;
  Random random(2);
  for (const std::string& path : paths) {
    const Tensor file = read_file(path);
    const Decoded decoded(Bytes(bytes_of(file).begin(), bytes_of(file).end()));
    const int windows = all / static_cast<int>(paths.size());
    ASSERT_NO_FATAL_FAILURE(check_random_windows(decoded, windows, random, path));
  }
}

// Where libjpeg has most cases of its own: pictures of a few blocks, of which only one or two columns of colour may be
// left.
TEST(JpegWindow, EveryRunOfColumnsOfSmallPicturesEqualsTheWholePicture) {
  for (const Kind& kind : samplings())
    for (const std::int64_t width : {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 18, 31, 33, 35}) {
      const Decoded decoded(noise_file({9, width}, kind.how));
      for (std::int64_t x = 0; x < width; ++x)
        for (std::int64_t count = 1; count <= width - x; ++count)
          ASSERT_TRUE(decoded.gives({0, x, 9, count}))
              << kind.name << ", width " << width << ": " << x << " + " << count;
    }
}

// At width 3 colour has two columns, too few for fancy upsampling.
TEST(JpegWindow, EveryRunOfRowsOfSmallPicturesEqualsTheWholePicture) {
  for (const Kind& kind : samplings())
    for (const std::int64_t height : {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 18, 31, 33, 36, 49, 66}) {
      const std::int64_t width = height % 2 == 0 ? 3 : 11;
      const Decoded decoded(noise_file({height, width}, kind.how));
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t count = 1; count <= height - y; ++count)
          ASSERT_TRUE(decoded.gives({y, 0, count, width}))
              << kind.name << ", height " << height << ": " << y << " + " << count;
    }
}

TEST(JpegWindow, OptionsCountForWindowsToo) {
  Random random(3);
  for (const DecodeOptions& options : {DecodeOptions{.dct = Dct::ifast}, DecodeOptions{.fancy_upsampling = false}})
    for (const Kind& kind : all_kinds()) {
      const Decoded decoded(noise_file({draw(random, 1, 90), draw(random, 1, 90)}, kind.how), options);
      ASSERT_NO_FATAL_FAILURE(check_random_windows(decoded, 5, random, kind.name));
    }
}

// The first scans of a progressive file, ended properly. libjpeg warns of nothing, and smooths the blocks by their
// neighbours.
Bytes first_scans(const Bytes& file, int scans) {
  const auto is_scan = [&file](std::size_t at) {
    return file[at] == std::byte{0xff} && file[at + 1] == std::byte{0xda};
  };
  std::size_t end = 2;
  for (int found = 0; end + 1 < file.size() && found <= scans; ++end) found += is_scan(end) ? 1 : 0;
  Bytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(end - 1));
  part.push_back(std::byte{0xff});
  part.push_back(std::byte{0xd9});
  return part;
}

TEST(JpegWindow, OfAProgressiveFileWithoutItsLastScansEqualsTheWholePicture) {
  Random random(5);
  for (const Kind& kind : samplings())
    for (const int scans : {1, 2, 3}) {
      EncodeOptions how = kind.how;
      how.progressive = true;
      const Bytes file = noise_file({draw(random, 30, 120), draw(random, 30, 120)}, how);
      const Decoded decoded(first_scans(file, scans));
      EXPECT_NE(decoded.whole, decode_jpeg(file)) << kind.name;
      ASSERT_NO_FATAL_FAILURE(check_random_windows(decoded, 20, random, kind.name));
    }
}

constexpr Size kSize{61, 83};

TEST(JpegWindow, IsChosenWhenTheSizeIsKnown) {
  const Bytes file = noise_file(kSize, {});
  ByteBuffer buffer;
  const ImagePart part = decode_jpeg(
      file,
      [](Size image) {
        return Window{image.height - 1, image.width - 1, 1, 1};
      },
      buffer);
  EXPECT_EQ(part.window, (Window{60, 82, 1, 1}));
  EXPECT_EQ(copy_of(part.pixels), decode_jpeg(file, Window{60, 82, 1, 1}));
}

TEST(JpegWindow, OutsideThePictureIsRefused) {
  const Bytes file = noise_file(kSize, {});
  for (const Window& window : {Window{0, 0, 62, 1}, Window{0, 0, 1, 84}, Window{-1, 0, 1, 1}, Window{0, -1, 1, 1},
                               Window{61, 0, 1, 1}, Window{0, 0, 0, 1}, Window{0, 0, 1, 0}, Window{}})
    EXPECT_ERROR(decode_jpeg(file, window, {.name = "a.JPEG"}), ErrorCode::invalid_argument,
                 "cannot decode 'a.JPEG': window of ");
}

TEST(JpegWindow, ErrorOfWhoChoosesItEndsTheDecodingOnly) {
  const Bytes file = noise_file(kSize, {});
  ByteBuffer buffer;
  const auto refuse = [](Size) -> Window { throw Error(ErrorCode::not_found, "no box"); };
  EXPECT_ERROR(decode_jpeg(file, refuse, buffer), ErrorCode::not_found, "no box");
  EXPECT_TRUE(Decoded(file).gives({3, 5, 7, 9}));
}

// Under AddressSanitizer.
TEST(JpegWindow, BytesBesideThePixelsCanBeRead) {
  const Bytes file = noise_file({16, 16}, {});
  for (const Window& window : {Window{0, 0, 16, 16}, Window{0, 8, 16, 8}, Window{3, 0, 1, 1}, Window{15, 15, 1, 1}}) {
    ByteBuffer buffer;
    const ImageView view = decode_jpeg(file, window, buffer).pixels;
    const std::uint8_t* behind = view.row(view.height - 1) + view.width * channels;
    unsigned sum = 0;
    for (const volatile std::uint8_t* at = view.pixels - 64; at != view.pixels; ++at) sum += *at;
    for (const volatile std::uint8_t* at = behind; at != behind + 128; ++at) sum += *at;
    EXPECT_GE(sum, 0U);
  }
}

constexpr Size tall{200, 83};
constexpr Window top{10, 20, 30, 40};
constexpr Window bottom{150, 20, 50, 40};

Bytes without_end(const Bytes& file, std::size_t eighths) {
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(file.size() * eighths / 8)};
}

TEST(JpegWindow, TruncatedFileIsRefusedForAnyWindow) {
  for (const Kind& kind : {samplings()[0], samplings()[2]}) {
    const Bytes file = noise_file(tall, kind.how);
    for (const std::size_t eighths : {1U, 4U, 7U})
      for (const Window& window : {top, bottom})
        EXPECT_ERROR(decode_jpeg(without_end(file, eighths), window), ErrorCode::data_loss,
                     "truncated (Premature end of JPEG file)");
  }
}

TEST(JpegWindow, TruncatedFileThatIsAcceptedGivesThePixelsOfTheWholePicture) {
  const Bytes file = noise_file(tall, {}), damaged = without_end(file, 6);
  const DecodeOptions accept{.truncated = Truncated::accept};
  for (const Window& window : {top, bottom}) {
    DecodeReport report;
    const Tensor expected = copy_of(view_of(decode_jpeg(damaged, accept)).window(window));
    EXPECT_EQ(decode_jpeg(damaged, window, accept, &report), expected);
    EXPECT_GE(report.warnings, 1);
    EXPECT_TRUE(report.truncated);
  }
  EXPECT_EQ(decode_jpeg(damaged, top, accept), decode_jpeg(file, top));
}

// Of pictures of one row of blocks libjpeg has read all bits, the end's too, when it gives the first pixels.
TEST(JpegWindow, EndThatWasReadAlreadyIsThere) {
  for (const Kind& kind : all_kinds())
    for (const std::int64_t height : {2, 8, 9, 16, 17, 40}) {
      const Decoded decoded(noise_file({height, 3}, kind.how));
      for (std::int64_t rows = 1; rows <= height; ++rows) ASSERT_TRUE(decoded.gives({0, 0, rows, 1})) << kind.name;
    }
}

TEST(JpegWindow, BytesBehindTheFilesEndDoNoHarm) {
  Bytes file = noise_file(tall, {});
  const Tensor pixels = decode_jpeg(file, top);
  file.resize(file.size() + 1000, std::byte{0x55});
  EXPECT_EQ(decode_jpeg(file, top), pixels);
}

// The difference between a window and the whole picture: jpeg.h tells it.
TEST(JpegWindow, DamageBelowItIsNotNoticed) {
  const Bytes file = noise_file(tall, {.restart_rows = 1});
  Bytes damaged = file;
  std::size_t at = file.size() - 2;
  while (file[at] != std::byte{0xff} || (file[at + 1] & std::byte{0xf8}) != std::byte{0xd0})
    --at;  // the last restart marker
  damaged[at + 1] ^= std::byte{1};
  EXPECT_ERROR(decode_jpeg(damaged), ErrorCode::data_loss, "truncated");
  EXPECT_ERROR(decode_jpeg(damaged, bottom), ErrorCode::data_loss, "truncated");
  DecodeReport report;
  EXPECT_EQ(decode_jpeg(damaged, top, {}, &report), decode_jpeg(file, top));
  EXPECT_EQ(report.warnings, 0);
}

TEST(JpegWindow, LackOfTheLastTwoBytesIsNoticed) {
  const Bytes file = noise_file(tall, {});
  const auto damaged = std::span(file).first(file.size() - 2);
  for (const Window& window : {top, bottom})
    EXPECT_ERROR(decode_jpeg(damaged, window), ErrorCode::data_loss, "truncated");
}

TEST(JpegWindow, ProgressiveFileMustBeWholeForAnyWindow) {
  const Bytes file = noise_file(tall, {.progressive = true});
  EXPECT_ERROR(decode_jpeg(without_end(file, 7), top), ErrorCode::data_loss, "truncated");
}

// Any bytes end in pixels or in an Error, whatever the window, and the next good file is decoded as ever.
TEST(JpegWindow, DamagedBytesNeverDoMoreThanFail) {
  Random random(4);
  const DecodeOptions accept{.truncated = Truncated::accept, .max_pixels = 1 << 16};
  for (const Kind& kind : all_kinds()) {
    const Decoded good(noise_file(kSize, kind.how));
    ByteBuffer buffer;
    for (int round = 0; round < 30; ++round) {
      Bytes bad = good.file;
      for (int i = 0; i < 3; ++i) bad[random() % bad.size()] = static_cast<std::byte>(random() >> 8);
      try {
        decode_jpeg(
            bad, [&](Size image) { return random_window(random, image); }, buffer, accept);
      } catch (const Error&) {
      }
    }
    EXPECT_TRUE(good.gives({7, 11, 40, 60})) << kind.name;
  }
}

}  // namespace
}  // namespace penstock::image
