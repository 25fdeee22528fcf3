#include "tests/conformance/merges.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tests/support/sampled_draws.h"

namespace conformance {
namespace {

using model::Item;
using Items = std::vector<Item>;

template <class T> std::vector<ps::Dataset<T>> branches_of(const Feed& feed) {
  std::vector<ps::Dataset<T>> branches;
  for (std::size_t number = 0; number < 2; ++number) {
    Feed own = feed;
    own.first = first_of_branch(number);
    branches.push_back(input_of<T>(Place::stream, own));
  }
  return branches;
}

template <class Merge> Case merge_case(const std::string& name, MergeMeaning merged, const Merge& merge) {
  Case result;
  result.name = name;
  result.ops = {{.kind = Kind::prefetch, .name = name}};
  result.traits.place = Place::merge;
  result.build = [merge](const auto&, const Feed& feed) { return built(merge(branches_of<Token>(feed), feed)); };
  result.build_move_only = [merge](const auto&, const Feed& feed) {
    return built(merge(branches_of<MoveOnlyToken>(feed), feed));
  };
  result.merged = std::move(merged);
  return result;
}

// As long as both have something.
Items zipped(const Branches& branches, std::size_t) {
  Items items;
  for (std::size_t i = 0; i < std::min(branches[0].size(), branches[1].size()); ++i) {
    Item item = branches[0][i].failed() || !branches[1][i].failed() ? branches[0][i] : branches[1][i];
    if (!item.failed()) item.value = model::list({branches[0][i].value, branches[1][i].value});
    items.push_back(std::move(item));
  }
  return items;
}

Items concatenated(const Branches& branches, std::size_t count) {
  Items items = branches[0];
  if (items.size() == count) items.insert(items.end(), branches[1].begin(), branches[1].end());
  return items;
}

const ps::SampleOptions kSampling{.weights = {0.7, 0.3}, .seed = 5};

// Each draw takes the next one of a branch; where that is not there yet, what comes is not known.
Items sampled(const Branches& branches, std::size_t count) {
  std::vector<std::size_t> read(branches.size(), 0);
  Items items;
  auto draws = ps::test::sampled_draws({count, count}, kSampling).start({.serial = true});
  while (const auto draw = draws.next()) {
    if (read[*draw] == branches[*draw].size()) break;
    items.push_back(branches[*draw][read[*draw]++]);
  }
  return items;
}

// The second branch, twice the first one, and again.
std::vector<std::int64_t> choices_for(std::size_t count) {
  std::vector<std::int64_t> choices;
  for (std::size_t i = 0; i < 2 * count + 3; ++i) choices.push_back(i % 3 == 0 ? 1 : 0);
  return choices;
}

// A choice of a branch that has ended is passed over.
Items chosen(const Branches& branches, std::size_t count) {
  std::vector<std::size_t> read(branches.size(), 0);
  Items items;
  for (const std::int64_t choice : choices_for(count)) {
    const auto branch = static_cast<std::size_t>(choice);
    if (read[branch] < branches[branch].size()) {
      items.push_back(branches[branch][read[branch]++]);
    } else if (branches[branch].size() < count) {
      break;
    }
  }
  return items;
}

// One of each branch in turn, as long as both have one: as a user writes it.
class InTurn final : public ps::MergeOp {
 public:
  std::string name() const override { return "own_merge"; }
  ps::Flow flow_of(std::span<const ps::Flow>) const override { return {}; }
  std::unique_ptr<ps::MergeState> open(std::size_t) const override { return std::make_unique<State>(); }

 private:
  class State final : public ps::MergeState {
   public:
    void begin_pass(const ps::Stamp&) override { turn_ = 0, has_ended_ = false; }
    ps::Want want() const override { return has_ended_ ? ps::Want::nothing() : ps::Want::one(turn_); }
    void take(std::size_t, ps::Slot&& slot, ps::Emitter& out) override {
      out.forward(std::move(slot));
      turn_ = 1 - turn_;
    }
    void ended(std::size_t, ps::Emitter&) override { has_ended_ = true; }

   private:
    std::size_t turn_ = 0;
    bool has_ended_ = false;
  };
};

Items in_turn(const Branches& branches, std::size_t) {
  Items items;
  for (std::size_t i = 0; i < branches[0].size(); ++i) {
    items.push_back(branches[0][i]);
    if (i == branches[1].size()) break;
    items.push_back(branches[1][i]);
  }
  return items;
}

}  // namespace

std::vector<Case> all_merges() {
  const auto zip = []<class T>(const std::vector<ps::Dataset<T>>& branches, const Feed&) {
    return ps::zip(branches[0], branches[1]);
  };
  const auto concatenate = []<class T>(const std::vector<ps::Dataset<T>>& branches, const Feed&) {
    return ps::concatenate(branches);
  };
  const auto sample = []<class T>(const std::vector<ps::Dataset<T>>& branches, const Feed&) {
    return ps::sample_from(branches, kSampling);
  };
  const auto choose = []<class T>(const std::vector<ps::Dataset<T>>& branches, const Feed& feed) {
    return ps::choose_from(branches, ps::from_vector(choices_for(static_cast<std::size_t>(feed.count))));
  };
  const auto own = []<class T>(const std::vector<ps::Dataset<T>>& branches, const Feed&) {
    return ps::merge<T>(std::make_shared<InTurn>(), branches[0], branches[1]);
  };
  std::vector<Case> all;
  all.push_back(merge_case("zip", zipped, zip));
  all.back().traits.element_bytes = 2 * kTokenBytes;
  all.push_back(merge_case("concatenate", concatenated, concatenate));
  all.push_back(merge_case("sample_from", sampled, sample));
  all.push_back(merge_case("choose_from", chosen, choose));
  all.push_back(merge_case("own_merge", in_turn, own));
  return all;
}

}  // namespace conformance
