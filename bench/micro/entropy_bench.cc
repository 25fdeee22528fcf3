// Entropy decoding of JPEG, each instruction set: on the sample picture, or on all JPEG files of the folder that
// PENSTOCK_JPEG_FOLDER names (those that our own decoder takes, without restart intervals).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro/cycles.h"
#include "bench/micro/each_simd.h"
#include "bench/micro/picture.h"
#include "ops/image/entropy_kernels.h"
#include "ops/image/jpeg_markers.h"
#include "ops/image/simd.h"

namespace penstock::bench {
namespace {

using namespace image;

struct Tables {
  DcTable dc;
  AcTable ac;
};

// A file with its scan unstuffed, and memory for 16 MCUs.
struct PreparedFile {
  std::vector<std::byte> file;
  JpegHeaders headers;
  std::size_t scan_bytes = 0;
  std::vector<std::uint8_t> data;
  std::unique_ptr<Tables> tables[3];
  std::vector<std::int16_t> groups;
  std::vector<std::uint8_t> has_ac;
  std::vector<BlockPlan> blocks;
  std::size_t mcus = 0;
  std::int64_t symbols = 0;
};

const std::uint8_t* bytes_of(const std::vector<std::byte>& file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

std::size_t groups_in_row(const JpegComponent& component) {
  return kMcusAtOnce * static_cast<std::size_t>(component.across) / kBlocksInGroup;
}

void plan_blocks(PreparedFile& file) {
  std::size_t groups = 0;
  for (const JpegComponent& component : file.headers.component)
    groups += groups_in_row(component) * static_cast<std::size_t>(component.down);
  file.groups.resize(groups * kGroupValues);
  file.has_ac.resize(groups);
  std::size_t first = 0;  // group of a row of blocks
  for (std::size_t i = 0; i < static_cast<std::size_t>(file.headers.components); ++i) {
    const JpegComponent& component = file.headers.component[i];
    for (int y = 0; y < component.down; ++y, first += groups_in_row(component))
      for (int x = 0; x < component.across; ++x)
        file.blocks.push_back({&file.tables[i]->dc, &file.tables[i]->ac, static_cast<int>(i),
                               file.groups.data() + first * kGroupValues, file.has_ac.data() + first, component.across,
                               x});
  }
}

// The next symbol, the canonical way; drops it with its value.
unsigned take_symbol(const LongCodes& codes, const std::uint8_t* data, std::int64_t& position, bool is_dc) {
  std::uint64_t bits = 0;
  for (std::int64_t i = 0; i < 8; ++i) bits = bits << 8U | data[position / 8 + i];
  const auto next = static_cast<std::uint32_t>(bits << static_cast<unsigned>(position % 8) >> 48U);
  unsigned length = 1;
  while (next >= codes.end[length]) ++length;
  const std::int32_t place = length > 16 ? 0 : static_cast<std::int32_t>(next >> (16U - length)) + codes.offset[length];
  const unsigned symbol = codes.symbols[place];
  position += length + (is_dc ? symbol : symbol & 15U);
  return symbol;
}

std::int64_t count_symbols(const PreparedFile& file) {
  std::int64_t position = 0, symbols = 0;
  for (std::size_t mcu = 0; mcu < file.mcus; ++mcu)
    for (const BlockPlan& plan : file.blocks) {
      take_symbol(plan.dc->long_codes, file.data.data(), position, true);
      ++symbols;
      for (unsigned place = 0; place < 63; ++symbols)
        place += ac_step(take_symbol(plan.ac->long_codes, file.data.data(), position, false));
    }
  return symbols;
}

std::unique_ptr<PreparedFile> prepared(std::vector<std::byte> contents) {
  auto file = std::make_unique<PreparedFile>();
  file->file = std::move(contents);
  JpegHeaders& headers = file->headers;
  if (read_headers(file->file, headers) != Refusal::none || headers.restart_interval > 0) return nullptr;
  file->data.resize(file->file.size() - headers.scan + kReadAhead);
  file->scan_bytes =
      kScalarEntropy.unstuff(bytes_of(file->file), file->file.size(), headers.scan, file->data.data()).bytes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(headers.components); ++i) {
    file->tables[i] = std::make_unique<Tables>();
    build(file->tables[i]->dc, headers.dc[headers.component[i].dc]);
    build(file->tables[i]->ac, headers.ac[headers.component[i].ac]);
  }
  plan_blocks(*file);
  const auto rounded_up = [](std::int64_t value, int unit) {
    return static_cast<std::size_t>((value + unit - 1) / unit);
  };
  file->mcus = rounded_up(headers.width, 8 * headers.across) * rounded_up(headers.height, 8 * headers.down);
  file->symbols = count_symbols(*file);
  return file;
}

std::vector<std::byte> contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<std::byte> contents(bytes.size());
  std::memcpy(contents.data(), bytes.data(), bytes.size());
  return contents;
}

using PreparedFiles = std::vector<std::unique_ptr<PreparedFile>>;

PreparedFiles prepare_files() {
  PreparedFiles files;
  const char* const folder = std::getenv("PENSTOCK_JPEG_FOLDER");
  if (folder == nullptr) files.push_back(prepared({sample_jpeg().begin(), sample_jpeg().end()}));
  if (folder != nullptr)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) files.push_back(prepared(contents_of(entry.path())));
  std::erase(files, nullptr);
  return files;
}

PreparedFiles& files() {
  static PreparedFiles all = prepare_files();
  return all;
}

// Time per symbol and per file, bytes per second.
void count(benchmark::State& state, bool are_symbols) {
  std::int64_t symbols = 0, bytes = 0;
  for (const auto& file : files()) symbols += file->symbols, bytes += static_cast<std::int64_t>(file->scan_bytes);
  const auto per_second = [&](auto value) {
    return benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(value),
                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  };
  state.SetBytesProcessed(state.iterations() * bytes);
  if (are_symbols) {
    state.counters["s_per_symbol"] = per_second(symbols);
    state.counters["cycles_per_symbol"] = cycles_for_each(static_cast<double>(state.iterations() * symbols));
  }
  state.counters["s_per_file"] = per_second(files().size());
}

const EntropyKernels& kernels_of(benchmark::State& state) {
  const Simd simd = simd_of(state);
  state.SetLabel(std::string(to_string(simd)));
  return entropy_kernels(simd);
}

void UnstuffScan(benchmark::State& state) {
  const EntropyKernels& kernels = kernels_of(state);
  for (auto _ : state)
    for (const auto& file : files())
      benchmark::DoNotOptimize(
          kernels.unstuff(bytes_of(file->file), file->file.size(), file->headers.scan, file->data.data()));
  count(state, false);
}
BENCHMARK(UnstuffScan)->Apply(EachSimd);

// 16 MCUs at once, and their groups set to 0 for the next ones.
void StoreCoefficients(benchmark::State& state) {
  const EntropyKernels& kernels = kernels_of(state);
  for (auto _ : state)
    for (const auto& file : files()) {
      BitState bits{.next = file->data.data()};
      std::int32_t predictors[3] = {};
      for (std::size_t mcu = 0; mcu < file->mcus; mcu += kMcusAtOnce) {
        const std::size_t count = std::min(kMcusAtOnce, file->mcus - mcu);
        if (!kernels.store_mcus(bits, predictors, file->blocks.data(), file->blocks.size(), 0, count))
          state.SkipWithError("damaged file");
        std::memset(file->groups.data(), 0, file->groups.size() * sizeof file->groups[0]);
      }
    }
  count(state, true);
}
BENCHMARK(StoreCoefficients)->Apply(EachSimd);

void SkipCoefficients(benchmark::State& state) {
  const EntropyKernels& kernels = kernels_of(state);
  for (auto _ : state)
    for (const auto& file : files()) {
      BitState bits{.next = file->data.data()};
      std::int32_t predictors[3] = {};
      for (std::size_t mcu = 0; mcu < file->mcus; mcu += kMcusAtOnce)
        if (!kernels.skip_mcus(bits, predictors, file->blocks.data(), file->blocks.size(),
                               std::min(kMcusAtOnce, file->mcus - mcu)))
          state.SkipWithError("damaged file");
    }
  count(state, true);
}
BENCHMARK(SkipCoefficients)->Apply(EachSimd);

// Headers, and two tables of each kind as a colour picture has them.
void ReadJpegHeaders(benchmark::State& state) {
  JpegHeaders headers;
  for (auto _ : state)
    for (const auto& file : files()) benchmark::DoNotOptimize(read_headers(file->file, headers));
  count(state, false);
}
BENCHMARK(ReadJpegHeaders);

void BuildDcTable(benchmark::State& state) {
  const PreparedFile& file = *files().front();
  for (auto _ : state) {
    build(file.tables[0]->dc, file.headers.dc[file.headers.component[0].dc]);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BuildDcTable);

void BuildAcTable(benchmark::State& state) {
  const PreparedFile& file = *files().front();
  for (auto _ : state) {
    build(file.tables[0]->ac, file.headers.ac[file.headers.component[0].ac]);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BuildAcTable);

}  // namespace
}  // namespace penstock::bench
