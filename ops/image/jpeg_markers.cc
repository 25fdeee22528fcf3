#include "ops/image/jpeg_markers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

namespace penstock::image {
namespace {

// Table B.1; those that are not taken have no name here.
enum Marker : unsigned {
  kFrameBaseline = 0xc0,
  kFrameExtended = 0xc1,
  kFrameLast = 0xcf,
  kHuffmanCodes = 0xc4,
  kArithmeticConditioning = 0xcc,
  kStartOfImage = 0xd8,
  kEndOfImage = 0xd9,
  kScan = 0xda,
  kQuantisers = 0xdb,
  kRestartInterval = 0xdd,
  kApplication0 = 0xe0,
  kApplication14 = 0xee,
  kApplicationLast = 0xef,
  kComment = 0xfe,
};

constexpr std::int64_t kLargestSize = 65500;  // libjpeg's JPEG_MAX_DIMENSION

// Figure A.6: row * 8 + column by place.
struct NaturalOrder {
  std::uint8_t of[64];
};

constexpr NaturalOrder kNatural{{0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
                                 41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
                                 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63}};

// Bytes that are taken one after the other; who takes more than there are has asked has() before.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::size_t size() const { return rest_.size(); }
  bool has(std::size_t count) const { return rest_.size() >= count; }

  unsigned byte() {
    const auto value = std::to_integer<unsigned>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  unsigned two_bytes() {
    const unsigned high = byte();
    return high << 8U | byte();
  }
  Bytes take(std::size_t count) {
    const Bytes taken(rest_.first(count));
    rest_ = rest_.subspan(count);
    return taken;
  }
  void copy_to(std::uint8_t* to, std::size_t count) {
    std::memcpy(to, rest_.data(), count);
    rest_ = rest_.subspan(count);
  }
  bool begins_with(std::string_view text) const {
    return rest_.size() >= text.size() && std::memcmp(rest_.data(), text.data(), text.size()) == 0;
  }

 private:
  std::span<const std::byte> rest_;
};

class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> file, JpegHeaders& headers)
      : file_bytes_(file.size()), rest_(file), headers_(headers) {}

  Refusal read();

 private:
  struct SegmentReader {
    unsigned marker;
    Refusal (HeaderReader::*read)(Bytes segment);
  };
  static const SegmentReader kReaders[];

  bool has_start_of_image();
  std::optional<unsigned> next_marker();
  std::optional<Bytes> next_segment();
  Refusal read_segment(unsigned marker, Bytes segment);
  Refusal read_quantisers(Bytes segment);
  Refusal read_codes(Bytes segment);
  Refusal read_frame(Bytes segment);
  Refusal read_restart_interval(Bytes segment);
  Refusal read_jfif(Bytes segment);
  Refusal read_adobe(Bytes segment);
  void read_components(Bytes segment);
  Refusal read_scan(Bytes segment);
  Refusal read_scan_components(Bytes& segment);
  Refusal read_scan_component(Bytes& segment, JpegComponent& component);
  Refusal check_sampling();
  bool take_factors(JpegComponent& component, int most);
  Refusal check_colour() const;
  Refusal check_tables() const;
  bool has_tables(const JpegComponent& component) const;

  std::size_t file_bytes_;
  Bytes rest_;
  JpegHeaders& headers_;
  bool has_quantiser_[4] = {};
  bool has_frame_ = false, has_jfif_ = false, has_adobe_ = false;
  unsigned adobe_transform_ = 0;
};

bool HeaderReader::has_start_of_image() { return rest_.has(2) && rest_.two_bytes() == (0xff00U | kStartOfImage); }

// Any number of fill bytes may stand before a marker (B.1.1.2), but nothing else.
std::optional<unsigned> HeaderReader::next_marker() {
  if (!rest_.has(1) || rest_.byte() != 0xff) return std::nullopt;
  while (rest_.has(1))
    if (const unsigned code = rest_.byte(); code != 0xff) return code;
  return std::nullopt;
}

// What stands behind a marker's length (B.1.1.4).
std::optional<Bytes> HeaderReader::next_segment() {
  if (!rest_.has(2)) return std::nullopt;
  const std::size_t length = rest_.two_bytes();
  if (length < 2 || !rest_.has(length - 2)) return std::nullopt;
  return rest_.take(length - 2);
}

bool has_segment(unsigned marker) { return marker != kStartOfImage && marker != kEndOfImage; }

Refusal HeaderReader::read() {
  if (!has_start_of_image()) return Refusal::marker;
  for (;;) {
    const std::optional<unsigned> marker = next_marker();
    if (!marker || !has_segment(*marker)) return Refusal::marker;
    const std::optional<Bytes> segment = next_segment();
    if (!segment) return Refusal::marker;
    const Refusal refusal = read_segment(*marker, *segment);
    if (refusal != Refusal::none || *marker == kScan) return refusal;
  }
}

constexpr HeaderReader::SegmentReader HeaderReader::kReaders[] = {
    {kQuantisers, &HeaderReader::read_quantisers},
    {kHuffmanCodes, &HeaderReader::read_codes},
    {kFrameBaseline, &HeaderReader::read_frame},
    {kFrameExtended, &HeaderReader::read_frame},
    {kScan, &HeaderReader::read_scan},
    {kRestartInterval, &HeaderReader::read_restart_interval},
    {kApplication0, &HeaderReader::read_jfif},
    {kApplication14, &HeaderReader::read_adobe}};

// Of a marker whose segment nobody reads.
Refusal refusal_of(unsigned marker) {
  if (marker == kComment || (marker > kApplication0 && marker <= kApplicationLast)) return Refusal::none;
  const bool is_other_process = marker > kFrameExtended && marker <= kFrameLast;  // DAC among them
  return is_other_process ? Refusal::process : Refusal::marker;
}

Refusal HeaderReader::read_segment(unsigned marker, Bytes segment) {
  const auto reader = std::ranges::find(kReaders, marker, &SegmentReader::marker);
  return reader == std::end(kReaders) ? refusal_of(marker) : (this->*reader->read)(segment);
}

// In zigzag order. False: libjpeg dequantises steps of 0, but those above 32767 are not ours to dequantise.
bool take_steps(Bytes& segment, unsigned precision, QuantiserSteps& steps) {
  for (const std::uint8_t place : kNatural.of) {
    const unsigned step = precision == 0 ? segment.byte() : segment.two_bytes();
    if (step == 0 || step > 32767) return false;
    steps[place] = static_cast<std::uint16_t>(step);
  }
  return true;
}

// B.2.4.1
Refusal HeaderReader::read_quantisers(Bytes segment) {
  while (segment.has(1)) {
    const unsigned kind = segment.byte(), precision = kind >> 4U, number = kind & 15U;
    if (precision > 1 || number > 3 || !segment.has(64 * (precision + 1))) return Refusal::tables;
    if (!take_steps(segment, precision, headers_.quantisers[number])) return Refusal::tables;
    has_quantiser_[number] = true;
  }
  return Refusal::none;
}

// The counts of code words by length, then as many symbols. False: they are not all there.
bool take_code(Bytes& segment, HuffmanCode& code) {
  code = {};
  segment.copy_to(code.counts.data() + 1, 16);
  std::size_t symbols = 0;
  for (const std::uint8_t count : code.counts) symbols += count;
  if (symbols > code.symbols.size() || !segment.has(symbols)) return false;
  segment.copy_to(code.symbols.data(), symbols);
  code.is_there = true;
  return true;
}

// B.2.4.2. Whether it is a code only matters if the scan names it.
Refusal HeaderReader::read_codes(Bytes segment) {
  while (segment.has(1)) {
    if (!segment.has(17)) return Refusal::tables;
    const unsigned kind = segment.byte(), table_class = kind >> 4U, number = kind & 15U;
    if (table_class > 1 || number > 3) return Refusal::tables;
    if (!take_code(segment, table_class == 0 ? headers_.dc[number] : headers_.ac[number])) return Refusal::tables;
  }
  return Refusal::none;
}

// A height of 0 comes later, in a DNL segment.
bool is_size(std::int64_t height, std::int64_t width) {
  return std::min(height, width) > 0 && std::max(height, width) <= kLargestSize;
}

// B.2.2
Refusal HeaderReader::read_frame(Bytes segment) {
  if (has_frame_ || !segment.has(6)) return Refusal::marker;
  has_frame_ = true;
  if (segment.byte() != 8) return Refusal::process;
  headers_.height = segment.two_bytes();
  headers_.width = segment.two_bytes();
  const unsigned components = segment.byte();
  if (!is_size(headers_.height, headers_.width)) return Refusal::marker;
  if (components != 1 && components != 3) return Refusal::components;
  if (segment.size() != 3 * std::size_t{components}) return Refusal::marker;
  headers_.components = static_cast<int>(components);
  read_components(segment);
  return check_sampling();
}

void HeaderReader::read_components(Bytes segment) {
  for (int i = 0; i < headers_.components; ++i) {
    JpegComponent& component = headers_.component[static_cast<std::size_t>(i)];
    component.id = static_cast<std::uint8_t>(segment.byte());
    const unsigned factors = segment.byte();
    component.across = static_cast<int>(factors >> 4U);
    component.down = static_cast<int>(factors & 15U);
    component.quantiser = static_cast<std::uint8_t>(segment.byte());
  }
}

// libjpeg refuses others.
bool is_factor(int factor) { return factor >= 1 && factor <= 4; }

// A single component's factors mean nothing (A.2.2). False: they are too large, or none.
bool HeaderReader::take_factors(JpegComponent& component, int most) {
  if (!is_factor(component.across) || !is_factor(component.down)) return false;
  if (headers_.components == 1) {
    headers_.rows_at_once = component.down;
    component.across = component.down = 1;
  }
  return component.across <= most && component.down <= most;
}

Refusal HeaderReader::check_sampling() {
  for (int i = 0; i < headers_.components; ++i) {
    if (!take_factors(headers_.component[static_cast<std::size_t>(i)], i == 0 ? 2 : 1)) return Refusal::sampling;
  }
  headers_.across = headers_.component[0].across;
  headers_.down = headers_.component[0].down;
  // libjpeg repeats the samples of such narrow components instead of smoothing them.
  return headers_.across == 2 && headers_.width <= 4 ? Refusal::sampling : Refusal::none;
}

// B.2.4.4
Refusal HeaderReader::read_restart_interval(Bytes segment) {
  if (segment.size() != 2) return Refusal::marker;
  headers_.restart_interval = segment.two_bytes();
  return Refusal::none;
}

// An APP0 of another kind is skipped. Of another major version than 1 libjpeg warns.
Refusal HeaderReader::read_jfif(Bytes segment) {
  constexpr std::string_view identifier("JFIF\0", 5);
  if (segment.size() < 14 || !segment.begins_with(identifier)) return Refusal::none;
  has_jfif_ = true;
  segment.take(identifier.size());
  return segment.byte() == 1 ? Refusal::none : Refusal::marker;
}

// An APP14 of another kind is skipped.
Refusal HeaderReader::read_adobe(Bytes segment) {
  if (segment.size() < 12 || !segment.begins_with("Adobe")) return Refusal::none;
  has_adobe_ = true;
  segment.take(11);
  adobe_transform_ = segment.byte();
  return Refusal::none;
}

// Ss, Se, Ah and Al: of other ones libjpeg warns.
bool is_whole_block(Bytes segment) { return segment.byte() == 0 && segment.byte() == 63 && segment.byte() == 0; }

// B.2.3
Refusal HeaderReader::read_scan(Bytes segment) {
  if (!has_frame_ || !segment.has(1)) return Refusal::marker;
  const auto components = static_cast<std::size_t>(headers_.components);
  if (segment.byte() != components) return Refusal::scans;
  if (segment.size() != 2 * components + 3) return Refusal::marker;
  if (const Refusal refusal = read_scan_components(segment); refusal != Refusal::none) return refusal;
  if (!is_whole_block(segment)) return Refusal::marker;
  headers_.scan = file_bytes_ - rest_.size();
  const Refusal colour = check_colour();
  return colour == Refusal::none ? check_tables() : colour;
}

Refusal HeaderReader::read_scan_components(Bytes& segment) {
  for (int i = 0; i < headers_.components; ++i) {
    const Refusal refusal = read_scan_component(segment, headers_.component[static_cast<std::size_t>(i)]);
    if (refusal != Refusal::none) return refusal;
  }
  return Refusal::none;
}

Refusal HeaderReader::read_scan_component(Bytes& segment, JpegComponent& component) {
  if (segment.byte() != component.id) return Refusal::scans;
  const unsigned tables = segment.byte();
  component.dc = static_cast<std::uint8_t>(tables >> 4U);
  component.ac = static_cast<std::uint8_t>(tables & 15U);
  return Refusal::none;
}

using Ids = std::array<unsigned, 3>;

bool are_distinct(const Ids& ids) { return ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]; }

// As libjpeg guesses it; what it takes for RGB is not ours, nor is a transform of which it warns.
Refusal HeaderReader::check_colour() const {
  if (headers_.components == 1) return Refusal::none;
  const Ids ids = {headers_.component[0].id, headers_.component[1].id, headers_.component[2].id};
  if (!are_distinct(ids)) return Refusal::components;
  const bool is_rgb = ids == Ids{'R', 'G', 'B'};
  const bool is_ycc = has_jfif_ || (has_adobe_ ? adobe_transform_ == 1 : !is_rgb);
  return is_ycc ? Refusal::none : Refusal::components;
}

Refusal HeaderReader::check_tables() const {
  for (int i = 0; i < headers_.components; ++i) {
    if (!has_tables(headers_.component[static_cast<std::size_t>(i)])) return Refusal::tables;
  }
  return Refusal::none;
}

bool HeaderReader::has_tables(const JpegComponent& component) const {
  if (component.quantiser > 3 || component.dc > 3 || component.ac > 3) return false;
  const HuffmanCode &dc = headers_.dc[component.dc], &ac = headers_.ac[component.ac];
  const bool are_codes = dc.is_there && ac.is_there && is_code(dc, true) && is_code(ac, false);
  return are_codes && has_quantiser_[component.quantiser];
}

}  // namespace

Refusal read_headers(std::span<const std::byte> file, JpegHeaders& headers) noexcept {
  headers = {};
  return HeaderReader(file, headers).read();
}

}  // namespace penstock::image
