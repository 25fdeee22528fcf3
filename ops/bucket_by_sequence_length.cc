#include "ops/bucket_by_sequence_length.h"

#include <penstock/ops.h>

#include <algorithm>
#include <utility>

#include "lib/graph/arguments.h"
#include "ops/collect_op.h"

namespace penstock::ops {
namespace {

// The batch that is being collected of one bucket.
struct Bucket {
  std::unique_ptr<detail::BatchBuilder> builder;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  Stamp last;
};

class State final : public StreamState {
 public:
  State(const Buckets& buckets, const detail::ElementLengthFactory& length, const detail::BatchFactory& factory)
      : layout_(buckets), lengths_(length), factory_(factory) {}

  void begin_pass(Emitter&) override { clear(); }
  void element(Slot&& slot, Emitter& out) override {
    if (!length_) length_ = lengths_.open();
    const std::size_t i = bucket_of(length_->of(slot.value));
    Bucket& bucket = buckets_[i];
    if (!bucket.builder) bucket.builder = factory_.open(static_cast<std::size_t>(layout_.batch_sizes[i]));
    bucket.builder->check(slot.value);
    ++bucket.count;
    bucket.bytes += slot.value_bytes();
    bucket.last = slot.stamp;
    guarded(bucket, out, [&] { bucket.builder->add(std::move(slot.value)); });
    if (bucket.count == layout_.batch_sizes[i]) give(bucket, out);
  }
  bool flush(Emitter& out) override {
    if (layout_.drop_remainder) return false;
    const auto rest = std::ranges::find_if(buckets_, [](const Bucket& bucket) { return bucket.count > 0; });
    if (rest == buckets_.end()) return false;
    give(*rest, out);
    return true;
  }
  void pass_end(Emitter&) override { clear(); }
  std::int64_t held_bytes() const override {
    std::int64_t bytes = 0;
    for (const Bucket& bucket : buckets_) bytes += bucket.bytes;
    return bytes;
  }

 private:
  // As tf.data has it: a boundary is the first length of the bucket behind it.
  std::size_t bucket_of(std::int64_t length) const {
    const auto& boundaries = layout_.boundaries;
    return static_cast<std::size_t>(std::ranges::upper_bound(boundaries, length) - boundaries.begin());
  }
  static void give(Bucket& bucket, Emitter& out) {
    Element batch;
    guarded(bucket, out, [&] { batch = bucket.builder->finish(); });
    if (!batch.empty()) out.emit(std::move(batch), bucket.last);
    bucket = {};
  }
  // A builder that threw may hold half an element, so the batch goes with it. Its error is told here, since an
  // exception in flush() would be the last that is heard of the buckets behind it.
  template <class Function> static void guarded(Bucket& bucket, Emitter& out, Function&& function) {
    try {
      function();
    } catch (...) {
      Slot slot({}, bucket.last);
      slot.fail(std::make_exception_ptr(lost_batch(bucket.count, std::current_exception())));
      bucket = {};
      out.forward(std::move(slot));
    }
  }
  void clear() {
    buckets_.clear();
    buckets_.resize(layout_.batch_sizes.size());
    length_.reset();
  }

  const Buckets& layout_;  // of the op, which lives longer, as the next two
  const detail::ElementLengthFactory& lengths_;
  const detail::BatchFactory& factory_;
  std::unique_ptr<detail::ElementLength> length_;  // of this pass; none before its first element
  std::vector<Bucket> buckets_;
};

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

std::string text_of(const std::vector<std::int64_t>& numbers) { return to_string(Shape(numbers)); }

}  // namespace

BucketBySequenceLengthOp::BucketBySequenceLengthOp(detail::ElementLengthFactoryRef length,
                                                   detail::BatchFactoryRef factory, Buckets buckets,
                                                   const Padding& padding)
    : length_(std::move(length)),
      factory_(std::move(factory)),
      buckets_(std::move(buckets)),
      padding_(to_string(padding)) {
  const auto& [boundaries, sizes, drop_remainder] = buckets_;
  if (boundaries.empty()) refuse("bucket_boundaries is empty; give at least one length, or use padded_batch()");
  if (std::ranges::adjacent_find(boundaries, std::greater_equal<>()) != boundaries.end())
    refuse("bucket_boundaries must rise, but is " + text_of(boundaries));
  if (sizes.size() != boundaries.size() + 1)
    refuse("bucket_batch_sizes must have one size more than bucket_boundaries, for what is longer than all of these: " +
           std::to_string(boundaries.size() + 1) + ", but is " + text_of(sizes));
  for (const std::int64_t size : sizes)
    if (size < 1) graph::reject("bucket_batch_size", "at least 1", size);
}

std::string BucketBySequenceLengthOp::parameters() const {
  return "bucket_boundaries=" + text_of(buckets_.boundaries) + ", bucket_batch_sizes=" + text_of(buckets_.batch_sizes) +
         (buckets_.drop_remainder ? ", drop_remainder" : "") + (padding_.empty() ? "" : ", " + padding_);
}

Flow BucketBySequenceLengthOp::flow(const Flow& input) const {
  return {.cardinality = input.cardinality == INFINITE_CARDINALITY ? INFINITE_CARDINALITY : UNKNOWN_CARDINALITY};
}

std::unique_ptr<StreamState> BucketBySequenceLengthOp::open(std::uint64_t) const {
  return std::make_unique<State>(buckets_, *length_, *factory_);
}

std::int64_t BucketBySequenceLengthOp::elements_held() const { return std::ranges::max(buckets_.batch_sizes); }

OpRef bucket_by_sequence_length(detail::ElementLengthFactoryRef length, detail::BatchFactoryRef factory,
                                std::vector<std::int64_t> boundaries, std::vector<std::int64_t> batch_sizes,
                                const Padding& padding, bool drop_remainder) {
  return std::make_shared<BucketBySequenceLengthOp>(
      std::move(length), std::move(factory), Buckets{std::move(boundaries), std::move(batch_sizes), drop_remainder},
      padding);
}

}  // namespace penstock::ops
