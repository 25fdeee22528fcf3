// Pixels: decoding, cutting, resizing, storing.
#include <benchmark/benchmark.h>
#include <penstock/image.h>
#include <penstock/io.h>

#include <cstddef>
#include <string>
#include <vector>

#include "bench/full_decode.h"
#include "bench/micro/picture.h"

namespace penstock::bench {
namespace {

using namespace image;

// The unit of all ratios.
void UnitFullDecode(benchmark::State& state) {
  FullDecode unit;
  for (auto _ : state) benchmark::DoNotOptimize(unit.decode(sample_jpeg()));
}
BENCHMARK(UnitFullDecode);

void DecodeJpeg(benchmark::State& state) {
  ByteBuffer buffer;
  const DecodeOptions options{.dct = state.range(0) == 0 ? Dct::islow : Dct::ifast};
  for (auto _ : state) benchmark::DoNotOptimize(decode_jpeg(sample_jpeg(), buffer, options).pixels);
  state.SetLabel(state.range(0) == 0 ? "islow" : "ifast");
}
BENCHMARK(DecodeJpeg)->Arg(0)->Arg(1);

void JpegHeader(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(read_jpeg_header(sample_jpeg()).width);
}
BENCHMARK(JpegHeader);

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
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(memory.size()));
  const auto pixels = static_cast<double>(size.height * size.width * state.iterations());
  state.counters["s_per_pixel"] = benchmark::Counter(pixels, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetLabel(std::string(to_string(out.simd)) + " " + std::string(to_string(type)) +
                 (out.layout == Layout::nchw ? " nchw" : " nhwc"));
}

void crop_and_resize_arguments(benchmark::internal::Benchmark* benchmark) {
  for (const Simd simd : supported_simd())
    for (const DType type : {DType::f32, DType::f16, DType::u8})
      for (const Layout layout : {Layout::nhwc, Layout::nchw})
        benchmark->Args({static_cast<std::int64_t>(simd), static_cast<std::int64_t>(type), static_cast<std::int64_t>(layout)});
}
BENCHMARK(CropAndResize)->Apply(crop_and_resize_arguments)->Unit(benchmark::kMicrosecond);

void ResizeWindow(benchmark::State& state) {
  const Size size{224, 224};
  std::vector<std::uint8_t> out(size.values());
  const ImageView window = sample_view().window({.y = 20, .x = 50, .height = 300, .width = 400});
  for (auto _ : state) resize_bilinear(window, size, out);
}
BENCHMARK(ResizeWindow);

void ResizeAndCentreCrop(benchmark::State& state) {
  const Size size{224, 224};
  std::vector<std::uint8_t> out(size.values());
  for (auto _ : state) resize_and_centre_crop(sample_view(), 256, size, out);
}
BENCHMARK(ResizeAndCentreCrop);

void NormaliseF32(benchmark::State& state) {
  const Normaliser normaliser;
  const ImageView view = sample_view().window({.y = 0, .x = 0, .height = 224, .width = 224});
  std::vector<float> out(Size{224, 224}.values());
  const NormaliseOptions how{.layout = state.range(0) == 0 ? Layout::nhwc : Layout::nchw};
  for (auto _ : state) normaliser(view, out, how);
  state.SetLabel(state.range(0) == 0 ? "nhwc" : "nchw");
}
BENCHMARK(NormaliseF32)->Arg(0)->Arg(1);

void NormaliseF16(benchmark::State& state) {
  const Normaliser normaliser;
  const ImageView view = sample_view().window({.y = 0, .x = 0, .height = 224, .width = 224});
  std::vector<std::uint16_t> out(Size{224, 224}.values());
  for (auto _ : state) normaliser(view, DType::f16, out);
}
BENCHMARK(NormaliseF16);

void ConvertToF16(benchmark::State& state) {
  const std::vector<float> from(Size{256, 256}.values(), 123.456F);
  std::vector<std::uint16_t> to(from.size());
  for (auto _ : state) convert_to_f16(from, to);
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(from.size() * sizeof(float)));
}
BENCHMARK(ConvertToF16);

}  // namespace
}  // namespace penstock::bench
