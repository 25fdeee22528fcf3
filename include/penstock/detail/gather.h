// Elements gathered in a std::vector<T>: what window and group_by_window give. Nothing here is meant to be called by
// users.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/detail/made.h>
#include <penstock/detail/steps.h>
#include <penstock/slot.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// Makes one std::vector after the other.
class Gatherer {
 public:
  virtual ~Gatherer() = default;
  virtual bool can_copy() const noexcept = 0;
  virtual void add(Element&& value) = 0;
  virtual void add_copy(const Element& value) = 0;  // only if can_copy()
  virtual std::int64_t size() const noexcept = 0;   // of the present one
  virtual Element finish() = 0;
};
class GathererFactory {
 public:
  virtual ~GathererFactory() = default;
  virtual std::unique_ptr<Gatherer> open() const = 0;
};
using GathererFactoryRef = std::shared_ptr<const GathererFactory>;

template <class T> class TypedGatherer final : public Gatherer {
 public:
  bool can_copy() const noexcept override { return std::copy_constructible<T>; }
  void add(Element&& value) override {
    values_.push_back(std::move(value.unchecked<T>()));
    value.reset();
  }
  void add_copy(const Element& value) override {
    if constexpr (std::copy_constructible<T>) values_.push_back(value.unchecked<T>());
  }
  std::int64_t size() const noexcept override { return static_cast<std::int64_t>(values_.size()); }
  Element finish() override { return Element(std::exchange(values_, {})); }

 private:
  std::vector<T> values_;
};
template <class T> class TypedGathererFactory final : public GathererFactory {
 public:
  std::unique_ptr<Gatherer> open() const override { return std::make_unique<TypedGatherer<T>>(); }
};

// Groups of elements that have a key in common, of one pass.
class Grouping {
 public:
  virtual ~Grouping() = default;
  // The group that is full with it, if one is. `input`: Emitter::input_number().
  virtual std::optional<Slot> add(Slot&& slot, std::int64_t input) = 0;
  virtual std::optional<Slot> take_rest() = 0;  // when no more comes: what is left, by key
  virtual std::int64_t held_bytes() const noexcept = 0;
  virtual bool save(StateWriter& out) const = 0;  // what is held. False: the key's function has a state of its own
};
class GroupingFactory {
 public:
  virtual ~GroupingFactory() = default;
  virtual std::unique_ptr<Grouping> open() const = 0;
};
using GroupingFactoryRef = std::shared_ptr<const GroupingFactory>;

template <class F, class T> using KeyOf = std::remove_cvref_t<decltype(std::declval<F&>()(std::declval<const T&>()))>;
template <class F, class T>
concept KeyFunction = HasFunctionOfPass<F, const T&> && requires(F& function, const T& value) {
  function(value);
} && std::totally_ordered<KeyOf<F, T>> && !std::same_as<KeyOf<F, T>, std::string_view>;  // which the element may own

// A group has the stamp of its last element.
template <class F, class T> class GroupingByKey final : public Grouping {
 public:
  GroupingByKey(FunctionOfPass<F, const T&> key, std::int64_t size) : key_(std::move(key)), size_(size) {}

  std::optional<Slot> add(Slot&& slot, std::int64_t input) override {
    const auto place = groups_.try_emplace(key_(std::as_const(slot.value).template unchecked<T>())).first;
    Group& group = place->second;
    const std::int64_t held_before = group.held_bytes(place->first);
    const std::int64_t bytes = slot.value_bytes();
    try {
      group.inputs.push_back(input);
      group.values.push_back(std::move(slot.value.template unchecked<T>()));
    } catch (...) {
      group.inputs.resize(group.values.size());
      if (group.values.empty()) groups_.erase(place);
      throw;
    }
    group.last = slot.stamp;
    group.bytes += bytes;
    held_bytes_ += group.held_bytes(place->first) - held_before;
    if (static_cast<std::int64_t>(group.values.size()) < size_) return std::nullopt;
    return take(place);
  }
  std::optional<Slot> take_rest() override {
    if (groups_.empty()) return std::nullopt;
    return take(groups_.begin());
  }
  std::int64_t held_bytes() const noexcept override { return held_bytes_; }
  bool save(StateWriter& out) const override {
    if constexpr (!called_as_const<F, const T&>) return false;
    for (const auto& [key, group] : groups_) {
      for (const std::int64_t input : group.inputs) out.held(input);
    }
    return true;
  }

 private:
  using Key = KeyOf<F, T>;
  struct Group {
    std::vector<T> values;
    std::vector<std::int64_t> inputs;  // their numbers
    Stamp last;
    std::int64_t bytes = 0;  // of the values

    // With its place among the groups; 0 before it has any value.
    std::int64_t held_bytes(const Key& key) const {
      if (values.empty()) return 0;
      const std::size_t spare = (values.capacity() - values.size()) * sizeof(T);
      const std::size_t numbers = inputs.capacity() * sizeof(std::int64_t);
      return bytes + static_cast<std::int64_t>(spare + numbers + sizeof(Group)) + bytes_known(key) + kBytesOfNode;
    }
  };
  using Groups = std::map<Key, Group>;

  Slot take(typename Groups::iterator place) {
    held_bytes_ -= place->second.held_bytes(place->first);
    Slot slot(Element(std::move(place->second.values)), place->second.last);
    groups_.erase(place);
    return slot;
  }

  FunctionOfPass<F, const T&> key_;
  const std::int64_t size_;
  Groups groups_;
  std::int64_t held_bytes_ = 0;
};
template <class F, class T> class GroupingByKeyFactory final : public GroupingFactory {
 public:
  GroupingByKeyFactory(F key, std::int64_t size) : key_(std::move(key)), size_(size) {}
  std::unique_ptr<Grouping> open() const override { return made<Grouping, GroupingByKey<F, T>>(key_, size_); }

 private:
  const FunctionOfPass<F, const T&> key_;
  const std::int64_t size_;
};
template <class T, class F> GroupingFactoryRef grouping_by_key(F key, std::int64_t size) {
  return made_shared<GroupingFactory, GroupingByKeyFactory<F, T>>(std::move(key), size);
}

}  // namespace penstock::detail

#pragma GCC visibility pop
