#include "lib/graph/positions.h"

#include <algorithm>
#include <utility>

#include "lib/graph/traits.h"

namespace penstock::graph {
namespace {

class AllPositions final : public IndexSequence {
 public:
  explicit AllPositions(std::int64_t size) : size_(size), next_(size) {}
  void begin_pass(std::uint32_t, std::uint32_t) override { next_ = 0; }
  std::optional<std::int64_t> next() override {
    if (next_ == size_) return std::nullopt;
    return next_++;
  }
  void skip(std::int64_t count) override { next_ += std::clamp<std::int64_t>(count, 0, size_ - next_); }
  std::optional<std::int64_t> at(std::int64_t i) const override { return i; }
  std::optional<std::int64_t> find(std::int64_t position) const override {
    return position >= 0 && position < size_ ? position : size_;
  }
  std::int64_t size() const override { return size_; }

 private:
  std::int64_t size_;
  std::int64_t next_;
};

}  // namespace

std::unique_ptr<IndexSequence> all_positions(std::int64_t size) { return std::make_unique<AllPositions>(size); }

Positions positions_of(std::shared_ptr<const IndexedSource> source) {
  const std::int64_t size = source->size();
  return {std::move(source), [size] { return all_positions(size); }};
}

std::optional<Positions> behind(const Positions& input, const std::shared_ptr<const StreamOp>& op) {
  if (op->over_index(input.order()) == nullptr) return std::nullopt;
  return Positions{input.source, [before = input.order, op] { return op->over_index(before()); },
                   input.is_fixed && dynamic_cast<const SelectsTheSame*>(op.get()) != nullptr};
}

}  // namespace penstock::graph
