// Pixels: decoding, cutting, resizing, storing.
#include <benchmark/benchmark.h>
#include <penstock/image.h>
#include <penstock/io.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/imagenet/full_decode.h"
#include "bench/micro/cycles.h"
#include "bench/micro/each_simd.h"
#include "bench/micro/picture.h"

namespace penstock::bench {
namespace {

using namespace image;

// The unit of all ratios.
void UnitFullDecode(benchmark::State& state) {
  const std::span<const std::byte> jpeg = sample_jpeg();  // made at its first use
  FullDecode unit;
  for (auto _ : state) benchmark::DoNotOptimize(unit.decode(jpeg));
}
BENCHMARK(UnitFullDecode);

void decode(benchmark::State& state, const DecodeOptions& options, const char* label) {
  ByteBuffer buffer;
  for (auto _ : state) benchmark::DoNotOptimize(decode_jpeg(sample_jpeg(), buffer, options).pixels);
  state.SetLabel(label);
}
BENCHMARK_CAPTURE(decode, libjpeg, DecodeOptions{.decoder = Decoder::libjpeg}, "libjpeg-turbo, islow");
BENCHMARK_CAPTURE(decode, ifast, DecodeOptions{.dct = Dct::ifast}, "libjpeg-turbo, ifast");

void DecodeJpeg(benchmark::State& state) {
  decode(state, {.decoder = Decoder::own, .simd = simd_of(state)}, std::string(to_string(simd_of(state))).c_str());
}
BENCHMARK(DecodeJpeg)->Apply(EachSimd);

// The centre, of so many percent of the picture's area: what a crop needs of it.
void DecodeJpegWindow(benchmark::State& state) {
  const Size whole{sample_view().height, sample_view().width};
  const double share = std::sqrt(static_cast<double>(state.range(0)) / 100);
  Window window{.height = std::llround(share * static_cast<double>(whole.height)),
                .width = std::llround(share * static_cast<double>(whole.width))};
  window.y = (whole.height - window.height) / 2;
  window.x = (whole.width - window.width) / 2;
  ByteBuffer buffer;
  for (auto _ : state) benchmark::DoNotOptimize(decode_jpeg(sample_jpeg(), window, buffer).pixels);
}
BENCHMARK(DecodeJpegWindow)->ArgName("percent")->Arg(100)->Arg(50)->Arg(25)->Arg(10);

void JpegHeader(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(read_jpeg_header(sample_jpeg()).width);
}
BENCHMARK(JpegHeader);

// Bytes and pixels that are written.
void count(benchmark::State& state, Size written, DType type) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(written.values() * size_of(type)));
  const auto pixels = static_cast<double>(state.iterations() * written.height * written.width);
  state.counters["s_per_pixel"] = benchmark::Counter(pixels, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["cycles_per_pixel"] = cycles_for_each(pixels);
}

// A box of 262 x 400 pixels to 256 x 256, in cache. Args: Simd, DType, Layout.
void CropAndResize(benchmark::State& state) {
  const Size size{256, 256};
  const auto type = static_cast<DType>(state.range(1));
  std::vector<std::byte> memory(size.values() * size_of(type));
  const Output out{.memory = memory,
                   .type = type,
                   .layout = static_cast<Layout>(state.range(2)),
                   .simd = static_cast<Simd>(state.range(0))};
  const ImagePart part = part_of(sample_view());
  for (auto _ : state) crop_and_resize(part, {0.1F, 0.1F, 0.8F, 0.9F}, size, out);
  count(state, size, type);
  state.SetLabel(std::string(to_string(out.simd)) + " " + std::string(to_string(type)) +
                 (out.layout == Layout::nchw ? " nchw" : " nhwc"));
}

void crop_and_resize_arguments(benchmark::internal::Benchmark* benchmark) {
  for (const Simd simd : supported_simd())
    for (const DType type : {DType::f32, DType::f16, DType::u8})
      for (const Layout layout : {Layout::nhwc, Layout::nchw})
        benchmark->Args(
            {static_cast<std::int64_t>(simd), static_cast<std::int64_t>(type), static_cast<std::int64_t>(layout)});
}
BENCHMARK(CropAndResize)->Apply(crop_and_resize_arguments)->Unit(benchmark::kMicrosecond);

// The same as f32 into one place after the other of 256 MiB, as into batches that no cache holds. Arg: whether past the
// caches.
void CropIntoRing(benchmark::State& state) {
  const Size size{256, 256};
  const std::size_t bytes = size.values() * sizeof(float);
  const std::int64_t places = 341;
  Tensor ring(DType::f32, {places, size.height, size.width, 3});  // aligned as a batch is
  std::fill_n(ring.data(), ring.bytes(), std::byte{1});
  const ImagePart part = part_of(sample_view());
  std::int64_t place = 0;
  for (auto _ : state) {
    const std::span<std::byte> memory(ring.data() + static_cast<std::size_t>(place) * bytes, bytes);
    crop_and_resize(part, {0.1F, 0.1F, 0.8F, 0.9F}, size, {.memory = memory, .stream = state.range(0) != 0});
    place = (place + 1) % places;
  }
  count(state, size, DType::f32);
}
BENCHMARK(CropIntoRing)->ArgName("stream")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// ------------------------------------------------------------------------------------------------
// resize.h and convert.h, a benchmark for each instruction set

constexpr Size kTrainSize{224, 224};

void label_and_count(benchmark::State& state, Size written, DType type) {
  state.SetLabel(std::string(to_string(simd_of(state))));
  count(state, written, type);
}

Output output_to(Tensor& values, Layout layout, Simd simd) {
  Output out = output_of(values, layout);
  out.simd = simd;
  return out;
}

void ResizeWindow(benchmark::State& state) {
  Tensor values(DType::u8, {224, 224, 3});
  const ImageView window = sample_view().window({.y = 20, .x = 50, .height = 300, .width = 400});
  for (auto _ : state) resize(window, kTrainSize, output_to(values, Layout::nhwc, simd_of(state)));
  label_and_count(state, kTrainSize, DType::u8);
}
BENCHMARK(ResizeWindow)->Apply(EachSimd);

void ResizeWindowBicubic(benchmark::State& state) {
  Tensor values(DType::u8, {224, 224, 3});
  const ImageView window = sample_view().window({.y = 20, .x = 50, .height = 300, .width = 400});
  for (auto _ : state)
    resize(window, kTrainSize, output_to(values, Layout::nhwc, simd_of(state)), {.filter = Filter::bicubic});
  label_and_count(state, kTrainSize, DType::u8);
}
BENCHMARK(ResizeWindowBicubic)->Apply(EachSimd);

// All that train does with pixels.
void ResizeWindowMirroredNormalisedF32Nchw(benchmark::State& state) {
  static const Normaliser normaliser;
  Tensor values(DType::f32, {3, 224, 224});
  const ImageView window = sample_view().window({.y = 20, .x = 50, .height = 300, .width = 400});
  Output out = output_to(values, Layout::nchw, simd_of(state));
  out.normaliser = &normaliser;
  out.mirror = Mirror::yes;
  for (auto _ : state) resize(window, kTrainSize, out);
  label_and_count(state, kTrainSize, DType::f32);
}
BENCHMARK(ResizeWindowMirroredNormalisedF32Nchw)->Apply(EachSimd);

void ResizeAndCentreCrop(benchmark::State& state) {
  Tensor values(DType::u8, {224, 224, 3});
  for (auto _ : state)
    resize_and_centre_crop(sample_view(), 256, kTrainSize, output_to(values, Layout::nhwc, simd_of(state)));
  label_and_count(state, kTrainSize, DType::u8);
}
BENCHMARK(ResizeAndCentreCrop)->Apply(EachSimd);

// Same size: what is left is the store. Null: the values as they are.
void store_with(const Normaliser* normaliser, benchmark::State& state, DType type, Layout layout) {
  Tensor values(type, layout == Layout::nhwc ? Shape{224, 224, 3} : Shape{3, 224, 224});
  Output out = output_to(values, layout, simd_of(state));
  out.normaliser = normaliser;
  const ImageView view = sample_view().window({.y = 0, .x = 0, .height = 224, .width = 224});
  for (auto _ : state) store(view, out);
  label_and_count(state, kTrainSize, type);
}

void StoreU8Nchw(benchmark::State& state) { store_with(nullptr, state, DType::u8, Layout::nchw); }
BENCHMARK(StoreU8Nchw)->Apply(EachSimd);

void StoreF16(benchmark::State& state) { store_with(nullptr, state, DType::f16, Layout::nhwc); }
BENCHMARK(StoreF16)->Apply(EachSimd);

void StoreF16Nchw(benchmark::State& state) { store_with(nullptr, state, DType::f16, Layout::nchw); }
BENCHMARK(StoreF16Nchw)->Apply(EachSimd);

void normalise(benchmark::State& state, DType type, Layout layout) {
  static const Normaliser normaliser;
  store_with(&normaliser, state, type, layout);
}

void NormaliseF32(benchmark::State& state) { normalise(state, DType::f32, Layout::nhwc); }
BENCHMARK(NormaliseF32)->Apply(EachSimd);

void NormaliseF32Nchw(benchmark::State& state) { normalise(state, DType::f32, Layout::nchw); }
BENCHMARK(NormaliseF32Nchw)->Apply(EachSimd);

void NormaliseF16(benchmark::State& state) { normalise(state, DType::f16, Layout::nhwc); }
BENCHMARK(NormaliseF16)->Apply(EachSimd);

void NormaliseF16Nchw(benchmark::State& state) { normalise(state, DType::f16, Layout::nchw); }
BENCHMARK(NormaliseF16Nchw)->Apply(EachSimd);

void NormaliseBf16(benchmark::State& state) { normalise(state, DType::bf16, Layout::nhwc); }
BENCHMARK(NormaliseBf16)->Apply(EachSimd);

void ConvertToF16(benchmark::State& state) {
  const std::vector<float> from(Size{256, 256}.values(), 123.456F);
  std::vector<std::uint16_t> to(from.size());
  for (auto _ : state) convert_to_f16(from, to);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(to.size() * sizeof(std::uint16_t)));
}
BENCHMARK(ConvertToF16);

}  // namespace
}  // namespace penstock::bench
