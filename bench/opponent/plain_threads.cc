#include "bench/opponent/plain_threads.h"

#include <fcntl.h>
#include <penstock/image/crop_and_resize.h>
#include <penstock/io.h>
#include <penstock/voc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <optional>
#include <random>
#include <thread>

#include "bench/imagenet/process.h"
#include "bench/meter.h"
#include "lib/core/clock.h"
#include "lib/core/cpu_budget.h"

namespace penstock::bench {
namespace {

constexpr std::size_t batches_in_flight = 3;

// The file's bytes by open, fstat, one read and close; nothing if it is not there.
std::optional<std::span<const std::byte>> read_whole(const std::string& path, ByteBuffer& buffer) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  ::fstat(file, &status);
  const auto size = static_cast<std::size_t>(status.st_size);
  std::byte* bytes = buffer.reserve(size);
  const ssize_t got = ::read(file, bytes, size);
  ::close(file);
  if (got != status.st_size) throw Error(ErrorCode::unavailable, "cannot read '" + path + "'");
  return std::span<const std::byte>(bytes, size);
}

// A thread's first exception, kept for the one who joins.
class FirstError {
 public:
  template <class F> void guard(F&& f) {
    try {
      f();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

// The files of all epochs, each epoch in another random order.
std::vector<std::size_t> order_of(std::size_t files, std::int64_t epochs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> order;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto begin = static_cast<std::ptrdiff_t>(order.size());
    for (std::size_t i = 0; i < files; ++i) order.push_back(i);
    std::shuffle(order.begin() + begin, order.end(), random);
  }
  return order;
}

// What a thread keeps from file to file.
class Worker {
 public:
  Worker(const ImagenetOptions& options, const Files& files, image::Size size, BatchRing& ring)
      : options_(options), files_(files), size_(size), ring_(ring), sample_(size.values()) {}

  void load(const std::string& path) {
    const auto jpeg = read_whole(path, file_);
    if (!jpeg) throw Error(ErrorCode::not_found, "cannot open '" + path + "'");
    std::string name;
    const std::vector<image::Box> boxes = boxes_of(path, name);
    const std::int32_t label = files_.labels.id(label_of_file(path, name));
    image::DecodeOptions how;
    how.dct = options_.dct;
    const image::ImageView view = image::decode_jpeg(*jpeg, picture_, how);
    for (const image::Box& box : boxes) {
      image::crop_and_resize(view, box, size_, sample_);
      const BatchRing::Row row = ring_.claim();
      std::memcpy(row.values.data(), sample_.data(), sample_.size() * sizeof(float));
      *row.label = label;
      ring_.commit(row);
    }
  }

 private:
  std::vector<image::Box> boxes_of(const std::string& path, std::string& first_name) {
    for (const std::string& xml_path : annotation_paths(path, options_.annotations)) {
      const auto xml = read_whole(xml_path, xml_);
      if (!xml) continue;
      VocAnnotation annotation = parse_voc(*xml);
      if (!annotation.objects.empty()) first_name = annotation.objects.front().name;
      return normalised_boxes(annotation, {.policy = options_.boxes, .name = xml_path});
    }
    return {image::Box{}};
  }

  const ImagenetOptions& options_;
  const Files& files_;
  image::Size size_;
  BatchRing& ring_;
  ByteBuffer file_, xml_, picture_;
  std::vector<float> sample_;
};

// Before memory is taken for it.
const ImagenetOptions& checked(const ImagenetOptions& options) {
  if (options.workload == Workload::boxes && options.dtype == DType::f32 && options.layout != image::Layout::nchw)
    return options;
  throw UsageError("the opponent does --workload boxes --dtype f32 --layout nhwc only");
}

image::Size size_of(const ImagenetOptions& options) {
  return options.crop == image::Size{} ? image::Size{256, 256} : options.crop;
}

std::size_t thread_count(const ImagenetOptions& options) {
  if (options.threads > 0) return static_cast<std::size_t>(options.threads);
  return static_cast<std::size_t>(std::max(1.0, HostLimits().cpus().cpus()));
}

}  // namespace

PlainThreads::PlainThreads(const ImagenetOptions& options, const Files& files)
    : options_(checked(options)),
      files_(files),
      size_(size_of(options)),
      threads_(thread_count(options)),
      ring_(batches_in_flight, options.batch, size_.values()) {}

Measurement PlainThreads::run() {
  const auto order = order_of(files_.paths.size(), options_.epochs, options_.seed);
  std::atomic<std::size_t> next{0};
  FirstError error;
  ring_.reset();
  reset_peak_memory();
  const std::int64_t allocations = allocation_count();
  const Meter meter;
  const std::int64_t begin = now_ns();
  std::atomic<std::size_t> running{threads_};
  const auto work = [&] {
    error.guard([&] {
      Worker worker(options_, files_, size_, ring_);
      for (std::size_t i = next++; i < order.size(); i = next++) worker.load(files_.paths[order[i]]);
    });
    if (--running == 0) ring_.close();
  };
  Measurement result;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < threads_; ++i) threads.emplace_back(work);
    consume(result, begin);
  }
  const Cost cost = meter.stop();
  error.rethrow();
  result.images = static_cast<std::int64_t>(order.size());
  result.decoded = result.images;
  result.wall_s = cost.wall_s;
  result.cpu_s = cost.cpu_s;
  result.foreign_cores = cost.foreign_cores;
  result.allocations = allocation_count() - allocations;
  result.peak_rss_bytes = peak_memory_bytes();
  return result;
}

void PlainThreads::consume(Measurement& result, std::int64_t begin_ns) {
  std::int64_t waited = 0;
  for (;;) {
    const std::int64_t asked = now_ns();
    const std::int64_t rows = ring_.next();
    waited += now_ns() - asked;
    if (rows == 0) break;
    if (result.batches++ == 0) result.ttfb_s = 1e-9 * static_cast<double>(now_ns() - begin_ns);
    result.samples += rows;
    ring_.release();
  }
  result.wait_share = static_cast<double>(waited) / static_cast<double>(now_ns() - begin_ns);
}

}  // namespace penstock::bench
