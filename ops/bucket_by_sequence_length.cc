#include "ops/bucket_by_sequence_length.h"

#include <penstock/ops.h>

#include <algorithm>
#include <utility>

#include "lib/base/fail_argument.h"
#include "lib/graph/arguments.h"
#include "ops/collect_op.h"

namespace penstock::ops {
namespace {

// The batch that is being collected of one bucket.
struct Bucket {
  std::unique_ptr<detail::BatchBuilder> builder;
  std::vector<std::int64_t> inputs;  // numbers of its elements
  std::int64_t bytes = 0;
  Stamp last;

  std::int64_t count() const noexcept { return std::ssize(inputs); }
};

class State final : public StreamState {
 public:
  State(const detail::Buckets& buckets, const detail::ElementLengthFactory& length,
        const std::vector<detail::BatchFactoryRef>& factories)
      : layout_(buckets), lengths_(length), factories_(factories) {}

  void begin_pass(Emitter&) override { clear(); }
  void element(Slot&& slot, Emitter& out) override {
    const std::size_t i = bucket_of(slot.value);
    Bucket& bucket = buckets_[i];
    note(slot, out.input_number(), i);
    guarded(bucket, out, [&] { bucket.builder->add(std::move(slot.value)); });
    if (bucket.count() == layout_.batch_sizes[i]) give(bucket, out);
  }
  bool flush(Emitter& out) override {
    if (layout_.drop_remainder) return false;
    const auto rest = std::ranges::find_if(buckets_, [](const Bucket& bucket) { return bucket.count() > 0; });
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
  bool save(StateWriter& out) const override {
    if (length_ && length_->has_state()) return false;
    for (const Bucket& bucket : buckets_) {
      for (const std::int64_t input : bucket.inputs) out.held(input);
    }
    return true;
  }
  void restore(StateReader& in) override {
    while (in.has_held()) {
      auto [slot, input] = in.take_held();
      const std::size_t i = bucket_of(slot.value);
      note(slot, input, i);
      buckets_[i].builder->add(std::move(slot.value));
      if (buckets_[i].count() == layout_.batch_sizes[i]) StateReader::refuse();
    }
  }

 private:
  std::size_t bucket_of(const Element& element) {
    if (!length_) length_ = lengths_.open();
    return bucket_for(length_->of(element));
  }
  // As tf.data has it: a boundary is the first length of the bucket behind it.
  std::size_t bucket_for(std::int64_t length) const {
    const auto& boundaries = layout_.boundaries;
    if (layout_.pad_to_bucket_boundary && length >= boundaries.back()) fail_beyond_boundaries(length);
    return static_cast<std::size_t>(std::ranges::upper_bound(boundaries, length) - boundaries.begin());
  }
  [[noreturn]] void fail_beyond_boundaries(std::int64_t length) const {
    throw Error(ErrorCode::invalid_argument,
                "the element has length " + std::to_string(length) +
                    ", but with pad_to_bucket_boundary each must be below the last of bucket_boundaries, " +
                    std::to_string(layout_.boundaries.back()) +
                    ". Give another boundary, or leave such elements out with a filter before");
  }
  // An element that is to be added; throws if it does not fit.
  void note(const Slot& slot, std::int64_t input, std::size_t i) {
    Bucket& bucket = buckets_[i];
    if (!bucket.builder) bucket.builder = factories_[i]->open(static_cast<std::size_t>(layout_.batch_sizes[i]));
    bucket.builder->check(slot.value);
    bucket.inputs.push_back(input);
    bucket.bytes += slot.value_bytes();
    bucket.last = slot.stamp;
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
      slot.fail(std::make_exception_ptr(lost_batch(bucket.count(), std::current_exception())));
      bucket = {};
      out.forward(std::move(slot));
    }
  }
  void clear() {
    buckets_.clear();
    buckets_.resize(layout_.batch_sizes.size());
    length_.reset();
  }

  const detail::Buckets& layout_;  // of the op, which lives longer, as the next two
  const detail::ElementLengthFactory& lengths_;
  const std::vector<detail::BatchFactoryRef>& factories_;  // by bucket
  std::unique_ptr<detail::ElementLength> length_;          // of this pass; none before its first element
  std::vector<Bucket> buckets_;
};

std::string text_of(const std::vector<std::int64_t>& numbers) { return to_string(Shape(numbers)); }

}  // namespace

BucketBySequenceLengthOp::BucketBySequenceLengthOp(detail::ElementLengthFactoryRef length,
                                                   std::vector<detail::BatchFactoryRef> factories,
                                                   detail::Buckets buckets, const Padding& padding)
    : length_(std::move(length)),
      factories_(std::move(factories)),
      buckets_(std::move(buckets)),
      padding_(to_string(padding)) {
  const auto &boundaries = buckets_.boundaries, &sizes = buckets_.batch_sizes;
  if (boundaries.empty()) fail_argument("bucket_boundaries is empty; give at least one length, or use padded_batch()");
  if (std::ranges::adjacent_find(boundaries, std::greater_equal<>()) != boundaries.end())
    fail_argument("bucket_boundaries must rise, but is " + text_of(boundaries));
  if (sizes.size() != boundaries.size() + 1)
    fail_argument(
        "bucket_batch_sizes must have one size more than bucket_boundaries, for what is longer than all of these: " +
        std::to_string(boundaries.size() + 1) + ", but is " + text_of(sizes));
  if (buckets_.pad_to_bucket_boundary && boundaries.front() < 1)
    fail_argument("with pad_to_bucket_boundary bucket_boundaries must be at least 1, but is " + text_of(boundaries));
  for (const std::int64_t size : sizes)
    if (size < 1) graph::reject("bucket_batch_size", "at least 1", size);
}

std::string BucketBySequenceLengthOp::parameters() const {
  return "bucket_boundaries=" + text_of(buckets_.boundaries) + ", bucket_batch_sizes=" + text_of(buckets_.batch_sizes) +
         (buckets_.pad_to_bucket_boundary ? ", pad_to_bucket_boundary" : "") +
         (buckets_.drop_remainder ? ", drop_remainder" : "") + (padding_.empty() ? "" : ", " + padding_);
}

Flow BucketBySequenceLengthOp::flow(const Flow& input) const {
  return {.cardinality = input.cardinality == INFINITE_CARDINALITY ? INFINITE_CARDINALITY : UNKNOWN_CARDINALITY};
}

std::unique_ptr<StreamState> BucketBySequenceLengthOp::open(std::uint64_t) const {
  return std::make_unique<State>(buckets_, *length_, factories_);
}

std::int64_t BucketBySequenceLengthOp::elements_held() const { return std::ranges::max(buckets_.batch_sizes); }

OpRef bucket_by_sequence_length(detail::ElementLengthFactoryRef length, std::vector<detail::BatchFactoryRef> factories,
                                detail::Buckets buckets, const Padding& padding) {
  return std::make_shared<BucketBySequenceLengthOp>(std::move(length), std::move(factories), std::move(buckets),
                                                    padding);
}

}  // namespace penstock::ops
