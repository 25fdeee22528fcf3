// Random trees of datasets, each with what it must give: plain lists, put together without an engine.
//
// What must come is a list of numbers and errors. An endless dataset is as much of a list as anybody can come to read
// of it. Every pass and epoch gives the same, so a repeat repeats the list.
#pragma once

#include <penstock/penstock.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/random/faults_in_trees.h"
#include "tests/random/turns.h"
#include "tests/support/random.h"
#include "tests/support/sampled_draws.h"

namespace trees {

namespace ps = penstock;
using ps::test::Random;

inline constexpr std::int64_t kFactor = 1009;
inline constexpr int kDepth = 3;                 // of merges, at most
inline constexpr int kNests = 2;                 // one inside the other
inline constexpr std::size_t kMostOfNest = 500;  // items: an endless list beside it must be longer

struct Tree {
  ps::Dataset<std::int64_t> dataset;
  Items items;
  bool is_endless = false;
  std::string text;  // as it was drawn
};

inline std::string text_of(const Item& item) { return item ? std::to_string(*item) : "x"; }

inline std::int64_t joined(std::int64_t a, std::int64_t b) { return (a * kFactor + b) % 1'000'003; }

// What may be in a tree, beside sources, ops and merges.
struct Drawn {
  bool faults = false;  // functions fail in all ways that there are, and sources, too. Else by one exception
  bool nests = false;   // datasets that a function makes of elements
};

class Drawer {
 public:
  // How often each op was drawn, and each pair of neighbours.
  using Coverage = std::map<std::string, std::int64_t>;

  Drawer(std::uint64_t seed, Coverage& coverage, Drawn drawn = {})
      : random_(seed), coverage_(coverage), faults_(drawn.faults), nests_(drawn.nests ? kNests : 0) {}

  // Never endless.
  Tree draw() {
    for (;;) {
      try {
        Tree tree = draw_tree(kDepth);
        return tree.is_endless ? take(std::move(tree), random_.between(0, 40)) : tree;
      } catch (const NeverGivesAnything&) {
      } catch (const TooLong&) {
      }
    }
  }

 private:
  struct NeverGivesAnything {};
  struct TooLong {};

  Tree draw_tree(int depth) {
    Tree tree = depth == 0 || random_.one_in(4) ? source() : merge(depth);
    for (std::int64_t ops = random_.below(4); ops > 0; --ops) tree = behind(std::move(tree));
    return tree;
  }

  // Of the last op of a text, without its numbers.
  static std::string last_of(const std::string& text) {
    const std::string last = text.substr(text.rfind(' ') + 1);
    return last.substr(0, last.find_first_of("-0123456789!"));
  }

  void note(const std::string& name, const std::string& before) {
    ++coverage_[name];
    ++coverage_[last_of(before) + ">" + name];
  }

  // Of positions; or something that reads ahead, so that what merges it is a stage.
  Tree source() {
    ++coverage_["range"];
    const std::int64_t begin = random_.below(100), count = random_.one_in(6) ? 0 : random_.between(1, 12);
    Items items;
    for (std::int64_t i = 0; i < count; ++i) items.emplace_back(begin + i);
    if (faults_ && random_.one_in(3)) return failing_source(begin, count, std::move(items));
    const auto positions = ps::range(begin, begin + count);
    if (random_.one_in(2)) return {positions, items, false, "range" + std::to_string(count)};
    return {positions.prefetch(), items, false, "prefetch" + std::to_string(count)};
  }

  Tree failing_source(std::int64_t begin, std::int64_t count, Items items) {
    const std::int64_t modulus = random_.between(2, 7);
    fail_some(items, modulus);
    return {failing_generator(begin, count, modulus), std::move(items), false, "generator" + std::to_string(count)};
  }

  static void fail_some(Items& items, std::int64_t modulus) {
    for (Item& item : items) {
      if (item && fails(*item, modulus)) item.reset();
    }
  }

  Tree behind(Tree in) {
    if (nests_ > 0 && random_.one_in(3)) return interleave(std::move(in));
    switch (random_.below(8)) {
      case 0: return map(std::move(in));
      case 1: return filter(std::move(in));
      case 2: return take(std::move(in), random_.below(12));
      case 3: return skip(std::move(in), random_.below(4));
      case 4: return repeat(std::move(in));
      case 5: return failing(std::move(in));
      case 6: return cache(std::move(in));
      default: return batched(std::move(in));
    }
  }

  static Tree next(Tree in, const std::string& name, ps::Dataset<std::int64_t> dataset, Items items, bool is_endless) {
    return {std::move(dataset), std::move(items), is_endless, in.text + " " + name};
  }

  Tree map(Tree in) {
    note("map", in.text);
    Items items = in.items;
    for (Item& item : items) {
      if (item) item = *item * 3 + 1;
    }
    auto dataset = in.dataset.map([](std::int64_t x) { return x * 3 + 1; },
                                  {.parallelism = random_.one_in(2) ? ps::Tunable(2) : ps::AUTOTUNE,
                                   .blocks = random_.one_in(4) ? std::optional(true) : std::nullopt});
    return next(in, "map", std::move(dataset), std::move(items), in.is_endless);
  }

  Tree failing(Tree in) {
    note("fail", in.text);
    const std::int64_t modulus = random_.between(3, 9);
    Items items = in.items;
    fail_some(items, modulus);
    auto dataset =
        faults_ ? with_faults(in.dataset, modulus, random_.next()) : in.dataset.map([modulus](std::int64_t x) {
          if (fails(x, modulus)) throw std::runtime_error("drawn");
          return x;
        });
    return next(in, "fail", std::move(dataset), std::move(items), in.is_endless);
  }

  Tree filter(Tree in) {
    note("filter", in.text);
    Items items;
    const auto passes = [](const Item& item) { return !item || *item % 3 != 0; };
    std::ranges::copy_if(in.items, std::back_inserter(items), passes);
    const auto middle = in.items.begin() + std::ssize(in.items) / 2;  // behind what comes before the endless part
    if (in.is_endless && std::none_of(middle, in.items.end(), passes)) throw NeverGivesAnything();
    return next(in, "filter", in.dataset.filter([](std::int64_t x) { return x % 3 != 0; }), std::move(items),
                in.is_endless);
  }

  // Errors pass and do not count.
  Tree take(Tree in, std::int64_t count) {
    note("take", in.text);
    Items items;
    std::int64_t taken = 0;
    for (const Item& item : in.items) {
      if (taken == count) break;
      items.push_back(item);
      taken += item.has_value();
    }
    if (in.is_endless && taken < count) throw NeverGivesAnything();  // but errors
    return next(in, "take" + std::to_string(count), in.dataset.take(count), std::move(items), false);
  }

  Tree skip(Tree in, std::int64_t count) {
    note("skip", in.text);
    Items items;
    std::int64_t skipped = 0;
    for (const Item& item : in.items) {
      if (item && skipped++ < count) continue;
      items.push_back(item);
    }
    return next(in, "skip" + std::to_string(count), in.dataset.skip(count), std::move(items), in.is_endless);
  }

  Tree repeat(Tree in) {
    const bool for_ever = random_.one_in(3) && !in.items.empty();
    note(for_ever ? "repeat" : "repeat(n)", in.text);
    const std::int64_t count = for_ever ? -1 : random_.between(0, 3);
    Items items;
    const std::size_t passes = for_ever ? kMostItems : static_cast<std::size_t>(count);
    for (std::size_t pass = 0; pass < passes && !in.items.empty() && items.size() < kMostItems; ++pass)
      items.insert(items.end(), in.items.begin(), in.items.end());
    if (count == 0) in.is_endless = false;
    const bool is_endless = in.is_endless || (for_ever && !items.empty());
    return next(in, "repeat" + std::to_string(count), in.dataset.repeat(count), std::move(items), is_endless);
  }

  // Now and then without room for all.
  Tree cache(Tree in) {
    note("cache", in.text);
    const std::int64_t bytes = random_.one_in(3) ? random_.between(1, 1500) : 0;
    return next(in, "cache" + std::to_string(bytes), in.dataset.cache({.max_bytes = bytes}), in.items, in.is_endless);
  }

  // Apart again at once: the elements are as before, errors leave before the batch that they fell into.
  Tree batched(Tree in) {
    note("batch", in.text);
    const std::int64_t size = random_.between(1, 4);
    Items items, batch;
    for (const Item& item : in.items) {
      item ? batch.push_back(item) : items.push_back(item);
      if (static_cast<std::int64_t>(batch.size()) < size) continue;
      items.insert(items.end(), batch.begin(), batch.end());
      batch.clear();
    }
    if (!in.is_endless) items.insert(items.end(), batch.begin(), batch.end());
    return next(in, "batch" + std::to_string(size), in.dataset.batch(size).unbatch(), std::move(items), in.is_endless);
  }

  // Of one of some datasets for each element, which is joined with what that gives; the function may fail, too.
  Tree interleave(Tree in) {
    note("interleave", in.text);
    std::vector<Tree> inners = inner_trees();
    const std::int64_t modulus = random_.between(3, 20);
    const Turns turns{static_cast<std::size_t>(random_.between(1, 5)), static_cast<std::size_t>(random_.between(1, 3))};
    const auto items_of = [&](const Item& item) {
      if (!item || fails(*item, modulus)) return Items{Item()};
      Items items = inners[static_cast<std::size_t>(*item) % inners.size()].items;
      for (Item& inner : items) inner = inner ? Item(joined(*item, *inner)) : Item();
      return items;
    };
    const auto middle = in.items.begin() + std::ssize(in.items) / 2;
    const auto gives = [&](const Item& item) { return !items_of(item).empty(); };
    if (in.is_endless && std::none_of(middle, in.items.end(), gives)) throw NeverGivesAnything();
    std::string text = "interleave" + std::to_string(turns.cycle) + "," + std::to_string(turns.block) + "of(";
    for (const Tree& inner : inners) text += (&inner == &inners.front() ? "" : "|") + inner.text;
    auto dataset = in.dataset.interleave(
        [datasets = datasets_of(inners), modulus](std::int64_t x) {
          if (fails(x, modulus)) throw std::runtime_error("drawn");
          return datasets[static_cast<std::size_t>(x) % datasets.size()].map(
              [x](std::int64_t inner) { return joined(x, inner); });
        },
        {.cycle_length = static_cast<std::int64_t>(turns.cycle),
         .block_length = static_cast<std::int64_t>(turns.block),
         .parallelism = random_.pick(std::vector<ps::Tunable>{ps::AUTOTUNE, 1, 2, 8}),
         .blocks = random_.one_in(4) ? std::optional(true) : std::nullopt});
    Items items = given_in_turn(in.items, in.is_endless, turns, items_of);
    if (!in.is_endless && items.size() > kMostOfNest) throw TooLong();
    return {std::move(dataset), std::move(items), in.is_endless, in.text + " " + text + ") interleave"};
  }

  // None of them endless: it would keep its place for ever.
  std::vector<Tree> inner_trees() {
    --nests_;
    ++coverage_["nest in " + std::to_string(kNests - 1 - nests_)];
    std::vector<Tree> inners;
    for (std::int64_t count = random_.between(1, 3); count > 0; --count) {
      Tree inner = draw_tree(1);
      inners.push_back(inner.is_endless ? take(std::move(inner), random_.between(0, 9)) : std::move(inner));
    }
    ++nests_;
    return inners;
  }

  Tree merge(int depth) {
    std::vector<Tree> inputs;
    for (std::int64_t count = random_.between(1, 3); count > 0; --count) inputs.push_back(draw_tree(depth - 1));
    if (inputs.size() > 1 && random_.one_in(5)) inputs[1] = inputs[0];  // one dataset, used twice
    ++coverage_["depth " + std::to_string(1 + kDepth - depth)];
    switch (random_.below(4)) {
      case 0: return zip(inputs.size() == 1 ? std::vector{inputs[0], source()} : inputs);
      case 1: return concatenate(inputs);
      case 2: return sample(inputs);
      default: return choose(inputs);
    }
  }

  std::string named(const std::string& name, const std::vector<Tree>& inputs) {
    std::string text;
    for (const Tree& input : inputs) {
      note(name, input.text);
      text += (text.empty() ? "" : ", ") + input.text;
    }
    return "(" + text + ") " + name;
  }

  static std::vector<ps::Dataset<std::int64_t>> datasets_of(const std::vector<Tree>& inputs) {
    std::vector<ps::Dataset<std::int64_t>> datasets;
    for (const Tree& input : inputs) datasets.push_back(input.dataset);
    return datasets;
  }

  Tree zip(const std::vector<Tree>& inputs) {
    const std::string text = named("zip", inputs);
    Items items = inputs[0].items;
    bool is_endless = inputs[0].is_endless;
    auto dataset = inputs[0].dataset;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const Items& others = inputs[i].items;
      items.resize(std::min(items.size(), others.size()));
      for (std::size_t k = 0; k < items.size(); ++k)
        items[k] = items[k] && others[k] ? Item(joined(*items[k], *others[k])) : Item();
      is_endless = is_endless && inputs[i].is_endless;
      dataset = ps::zip(dataset, inputs[i].dataset).map([](const std::tuple<std::int64_t, std::int64_t>& pair) {
        return joined(std::get<0>(pair), std::get<1>(pair));
      });
    }
    return {std::move(dataset), std::move(items), is_endless, text};
  }

  Tree concatenate(const std::vector<Tree>& inputs) {
    const std::string text = named("concatenate", inputs);
    Tree result{ps::concatenate(datasets_of(inputs)), {}, false, text};
    for (const Tree& input : inputs) {
      if (result.is_endless) break;
      result.items.insert(result.items.end(), input.items.begin(), input.items.end());
      result.is_endless = input.is_endless;
    }
    return result;
  }

  Tree sample(const std::vector<Tree>& inputs) {
    const std::string text = named("sample", inputs);
    ps::SampleOptions options{.seed = random_.next(), .stop_on_empty = random_.one_in(2)};
    for (std::size_t i = 0; i < inputs.size(); ++i)
      options.weights.push_back(random_.one_in(8) ? 0 : 0.1 + static_cast<double>(i));
    if (std::ranges::count(options.weights, 0.0) == std::ssize(options.weights)) options.weights.front() = 1;
    Tree result{ps::sample_from(datasets_of(inputs), options), {}, false, text + (options.stop_on_empty ? "!" : "")};
    std::vector<std::size_t> lengths, read(inputs.size(), 0);
    for (const Tree& input : inputs) lengths.push_back(input.items.size());
    auto draws = ps::test::sampled_draws(lengths, options).start({.serial = true});
    while (const auto draw = draws.next()) {
      const Tree& input = inputs[*draw];
      result.items.push_back(input.items[read[*draw]++]);
      result.is_endless = input.is_endless && read[*draw] == input.items.size();  // as far as it is known
      if (result.is_endless) break;
    }
    return result;
  }

  // Choices that are none, and those that fail, among them.
  Tree choose(const std::vector<Tree>& inputs) {
    const std::string text = named("choose", inputs);
    const bool stop_on_empty = random_.one_in(2);
    std::vector<std::int64_t> choices;
    for (std::int64_t count = random_.between(0, 20); count > 0; --count)
      choices.push_back(random_.below(static_cast<std::int64_t>(inputs.size()) + (random_.one_in(6) ? 1 : 0)));
    Tree result{ps::choose_from(datasets_of(inputs), ps::from_vector(choices), {.stop_on_empty = stop_on_empty}),
                {},
                false,
                text + (stop_on_empty ? "!" : "")};
    std::vector<std::size_t> read(inputs.size(), 0);
    std::vector<bool> exhausted(inputs.size(), false);  // as far as was found
    for (const std::int64_t choice : choices) {
      if (std::ranges::count(exhausted, false) == 0) break;
      const auto input = static_cast<std::size_t>(choice);
      if (input >= inputs.size()) {
        result.items.emplace_back();
      } else if (read[input] < inputs[input].items.size()) {
        result.items.push_back(inputs[input].items[read[input]++]);
      } else if (stop_on_empty) {
        break;
      } else {
        exhausted[input] = true;
      }
    }
    return result;
  }

  Random random_;
  Coverage& coverage_;
  const bool faults_;
  int nests_;  // that may still be drawn one inside the other
};

}  // namespace trees
