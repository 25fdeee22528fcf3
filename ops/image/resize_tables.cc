#include "ops/image/resize_kernels.h"

#include <algorithm>
#include <array>

namespace penstock::image {
namespace {

using Quad = std::array<std::int32_t, 4>;

std::int32_t pair_of(std::int32_t first, std::int32_t second) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(first) & 0xffffU) | static_cast<std::uint32_t>(second)
                                                                                       << 16);
}

std::int32_t* put_pairs(const Quad& w, std::int32_t* to) {
  constexpr int low_bits = 11;
  constexpr std::int32_t low = (1 << low_bits) - 1;
  *to++ = pair_of(w[0] >> low_bits, w[1] >> low_bits);
  *to++ = pair_of(w[2] >> low_bits, w[3] >> low_bits);
  *to++ = pair_of(w[0] & low, w[1] & low);
  *to++ = pair_of(w[2] & low, w[3] & low);
  return to;
}

// The nearest multiple of 256 leaves a digit of -128 .. 127.
std::int32_t take_digits(Quad& w) {
  std::uint32_t four = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int32_t rest = (w[i] + 128) >> 8;
    four |= (static_cast<std::uint32_t>(w[i]) & 0xffU) << (8 * i);
    w[i] = rest;
  }
  return static_cast<std::int32_t>(four);
}

std::int32_t* put_digits(Quad w, std::int32_t* to) {
  to[2] = take_digits(w);
  to[1] = take_digits(w);
  to[0] = take_digits(w);
  return to + 3;
}

Quad quad_of(const Taps& taps, const Taps::Span& span, std::int64_t first) {
  Quad w{};
  for (std::int64_t i = first; i < std::min(first + 4, span.count); ++i)
    w[static_cast<std::size_t>(i - first)] = taps.weights[span.weights + static_cast<std::size_t>(i)];
  return w;
}

std::size_t words_of(Packing packing) { return packing == Packing::pairs ? 4 : 3; }

// One colour of one output pixel after the other.
struct Value {
  std::size_t pixel;
  std::int64_t colour;
};

Value value_at(std::size_t i, std::size_t pixels) {
  const std::size_t pixel = std::min(i / channels, pixels - 1);  // behind the last pixel: it again
  return {pixel, static_cast<std::int64_t>(i % channels)};
}

// The window of 16 values: its first byte, and how many it must have for four taps.
struct Reach {
  std::int64_t begin, bytes;
};

Reach reach_of(const Taps& columns, std::size_t first) {
  const std::size_t pixels = columns.spans.size();
  // Pixels follow each other from left to right.
  const std::int64_t left = columns.spans[value_at(first, pixels).pixel].begin * channels;
  const std::int64_t right = columns.spans[value_at(first + 15, pixels).pixel].begin * channels;
  return {left, right + 4 * channels - left};
}

void gather_indices(Lanes& index, const Taps& columns, std::size_t first, const Reach& reach) {
  for (std::size_t lane = 0; lane < 16; ++lane) {
    const Value value = value_at(first + lane, columns.spans.size());
    const std::int64_t at = columns.spans[value.pixel].begin * channels + value.colour - reach.begin;
    index.values[lane] = static_cast<std::int32_t>(at * 0x01010101 + 0x09060300);  // four bytes, a pixel apart
  }
}

void gather_digits(Lanes* to, const PackedTaps& packed, std::size_t pixels, std::size_t first) {
  const std::size_t words = 3 * packed.quads;
  for (std::size_t lane = 0; lane < 16; ++lane) {
    const std::int32_t* const weights = packed.weights.data() + value_at(first + lane, pixels).pixel * words;
    for (std::size_t word = 0; word < words; ++word) to[word].values[lane] = weights[word];
  }
}

constexpr std::int64_t kWindow = 64;

void make_room(Gathered& out, std::size_t vectors, std::size_t quads) {
  out.windows.resize(vectors);
  out.indices.resize(vectors);
  out.digits.resize(vectors * 3 * quads);
}

void gather(Gathered& out, const Taps& columns, const PackedTaps& packed) {
  const std::size_t pixels = columns.spans.size(), vectors = (pixels * channels + 15) / 16;
  make_room(out, vectors, packed.quads);
  out.fits = true;
  out.is_wide = false;
  for (std::size_t i = 0; i < vectors && out.fits; ++i) {
    const Reach reach = reach_of(columns, 16 * i);
    out.is_wide = out.is_wide || reach.bytes > kWindow;
    out.fits = reach.bytes <= 2 * kWindow;
    out.windows[i] = reach.begin;
    gather_indices(out.indices[i], columns, 16 * i, reach);
    gather_digits(&out.digits[3 * packed.quads * i], packed, pixels, 16 * i);
  }
}

}  // namespace

void pack(PackedTaps& packed, const Taps& taps, Packing packing) {
  packed.quads = static_cast<std::size_t>(taps.most + 3) / 4;
  packed.weights.resize(taps.spans.size() * packed.quads * words_of(packing));
  std::int32_t* to = packed.weights.data();
  for (const Taps::Span& span : taps.spans)
    for (std::size_t quad = 0; quad < packed.quads; ++quad) {
      const Quad weights = quad_of(taps, span, static_cast<std::int64_t>(4 * quad));
      to = packing == Packing::pairs ? put_pairs(weights, to) : put_digits(weights, to);
    }
}

ResizePlan plan_of(ResizeTables& tables, const Taps& columns, const Taps& rows, Simd simd) {
  const ResizeKernels& kernels = resize_kernels(simd);
  const Gathered& gathered = tables.gathered;
  pack(tables.rows, rows, kernels.packing);
  pack(tables.columns, columns, kernels.packing);
  tables.gathered.fits = false;
  if (kernels.packing == Packing::digits) {
    gather(tables.gathered, columns, tables.columns);
    if (!gathered.fits) pack(tables.columns, columns, Packing::pairs);
  }
  return {.kernels = &kernels,
          .columns = &columns,
          .rows = &rows,
          .pixels = columns.spans.size(),
          .spans = columns.spans.data(),
          .column_quads = tables.columns.quads,
          .row_quads = tables.rows.quads,
          .column_weights = tables.columns.weights.data(),
          .row_weights = tables.rows.weights.data(),
          .gathered = gathered.fits ? gathered.windows.size() : 0,
          .is_wide = gathered.is_wide,
          .windows = gathered.windows.data(),
          .indices = gathered.indices.data(),
          .digits = gathered.digits.data()};
}

}  // namespace penstock::image
