// All ranks have one global order of positions (before shard), of which rank r of n has those that are r modulo n. They
// make their steps together, so when one of them has taken k positions, all of them have, and together the first k * n.
// Ranks of another number go on behind these. A rank on which an element has failed has taken more for its steps than
// others: that it has shows in the element at which it stands, but not that another one has.
#include "lib/runtime/other_ranks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/error.h>

#include "lib/base/text.h"
#include "lib/graph/made_of.h"
#include "lib/graph/traits.h"
#include "lib/runtime/checkpoint.h"

namespace penstock::runtime {
namespace {

// A checkpoint may say anything: products of what it says must not overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 31;  // ranks, or positions that an element is made of
// Positions that are read again where an order cannot tell its place: some minutes.
constexpr std::int64_t kMostRead = std::int64_t{1} << 34;

// What a pipeline's text says of the rank that runs it.
struct Rank {
  std::int64_t ranks = 1, rank = 0;
  std::int64_t each = 1;  // positions that an element of the rank's is made of
};

[[noreturn]] void refuse(const Rank& there, const Rank& here, const std::string& why) {
  throw Error(ErrorCode::failed_precondition, "this checkpoint was taken by rank " + std::to_string(there.rank) +
                                                  " of " + std::to_string(there.ranks) + ", and rank " +
                                                  std::to_string(here.rank) + " of " + std::to_string(here.ranks) +
                                                  " cannot go on from it: " + why);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Its numbers, and the line without them: "2 shard(num_shards=4, index=1)" is 2, 4, 1 and " shard(num_shards=,
// index=)".
struct Line {
  explicit Line(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end == i) {
        rest += text[i++];
        continue;
      }
      numbers.push_back(parse_integer(text.substr(i, end - i)).value_or(-1));
      i = end;
    }
  }

  std::string rest;
  std::vector<std::int64_t> numbers;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

const graph::SplitsByPosition* shard_among_ranks(const graph::Node& node) {
  const auto* shard = node.as<graph::SplitsByPosition>();
  return shard != nullptr && shard->is_among_ranks() ? shard : nullptr;
}

// The two ranks, where the texts differ in nothing but a shard(world), and batches behind it.
class TwoRanks {
 public:
  TwoRanks(const std::string& there, const std::string& here, const std::vector<graph::Use>& uses) {
    const auto theirs = lines_of(there), ours = lines_of(here);
    if (theirs.size() != ours.size() || ours.size() != uses.size()) return;
    differ_alone_ = true;
    for (std::size_t i = 0; i < uses.size(); ++i) read(theirs[i], ours[i], *uses[i].node);
    require(has_shard_ && (there_.ranks != here_.ranks || there_.rank != here_.rank));
  }

  bool differ_alone() const { return differ_alone_; }
  const Rank& there() const { return there_; }
  const Rank& here() const { return here_; }

 private:
  void read(std::string_view theirs, std::string_view ours, const graph::Node& node) {
    const bool is_shard = shard_among_ranks(node) != nullptr;
    const bool is_batch = node.as<graph::PutsTogether>() != nullptr;
    const Line their(theirs), our(ours);
    const std::size_t numbers = is_shard ? 3 : 2;  // the first one is the op's
    if (!(is_shard || is_batch) || our.numbers.size() != numbers) return require(theirs == ours);
    require(their.rest == our.rest && their.numbers.size() == numbers && their.numbers[0] == our.numbers[0]);
    if (!differ_alone_) return;
    if (is_shard) {
      read_shard(their, our);
    } else {
      read_batch(their);
    }
  }

  void read_shard(const Line& their, const Line& our) {
    require(!std::exchange(has_shard_, true) && their.numbers[1] > 0 && their.numbers[1] < kMost &&
            their.numbers[2] >= 0 && their.numbers[2] < their.numbers[1]);
    there_.ranks = their.numbers[1];
    there_.rank = their.numbers[2];
    here_.ranks = our.numbers[1];
    here_.rank = our.numbers[2];
  }

  void read_batch(const Line& their) {
    require(their.numbers[1] > 0 && their.numbers[1] < kMost / there_.each);
    if (!differ_alone_) return;
    there_.each *= their.numbers[1];
  }

  void require(bool holds) { differ_alone_ = differ_alone_ && holds; }

  Rank there_, here_;
  bool has_shard_ = false, differ_alone_ = false;
};

// The positions that shard(world) deals out, in their order in a pass.
class GlobalOrder {
 public:
  GlobalOrder(const graph::Positions& positions, const Checkpoint& from)
      : order_(positions.order()), epoch_(from.epoch), pass_(from.last.pass) {}

  std::int64_t size() const { return order_->size(); }

  // nullopt: it has no such place, or it would take too long to tell.
  std::optional<std::int64_t> at(std::int64_t place) {
    order_->begin_pass(epoch_, pass_);
    if (place >= size() || (place > kMostRead && !order_->at(place))) return std::nullopt;
    order_->skip(place);
    return order_->next();
  }

 private:
  const std::unique_ptr<IndexSequence> order_;
  const std::uint32_t epoch_, pass_;
};

std::string count(std::int64_t number, const char* of) { return std::to_string(number) + " " + of; }

// How many positions its rank has taken, if none has failed.
std::int64_t taken_by_it(const Checkpoint& from, std::int64_t size, const TwoRanks& of) {
  const Rank& there = of.there();
  const bool is_in_epoch = from.delivered <= size / there.each && from.delivered * there.each <= size / there.ranks;
  if (is_in_epoch) return from.delivered * there.each;
  refuse(
      there, of.here(),
      "its ranks have taken all of the epoch's " + count(size, "positions, or the rest of them. Begin the next epoch"));
}

// Throws unless it stands where it would if nothing had failed.
void check_stands_there(const Checkpoint& from, std::int64_t taken, GlobalOrder& order, const TwoRanks& of) {
  const Rank& there = of.there();
  const auto last = order.at((taken - 1) * there.ranks + there.rank);
  if (from.errors_since == 0 && last == from.last.ordinal) return;
  refuse(
      there, of.here(),
      "behind " + count(from.delivered, "elements and errors of ") + count(there.each, "positions each") +
          " it stands behind element " + std::to_string(from.last.ordinal) +
          (last ? ", and not element " + std::to_string(*last) : "") +
          ". Elements have failed there, or were dropped, so no other rank stands at the same place; or its input is "
          "another. Resume with " +
          count(there.ranks, "ranks, each with its own checkpoint, and go on with another number from an epoch's end"));
}

// What all ranks have taken together, in a whole number of steps of those that go on: `each` positions an element.
std::int64_t taken_together(std::int64_t by_it, std::int64_t each, const TwoRanks& of) {
  const Rank &there = of.there(), &here = of.here();
  const std::int64_t together = by_it * there.ranks;
  if (each <= together / here.ranks && together % (each * here.ranks) == 0) return together;
  refuse(there, here,
         count(together, "positions have been taken, which is no whole number of steps of ") +
             count(here.ranks, "ranks that take ") + count(each, "each. Make batches such that all ranks take ") +
             count(there.ranks * there.each, "together, as before"));
}

Checkpoint translated(const Checkpoint& from, const graph::MadeOf& made, const TwoRanks& of) {
  const Rank& here = of.here();
  if (!from.has_last) refuse(of.there(), here, "all that it has delivered are errors. Start the epoch anew");
  GlobalOrder order(graph::positions_up_to(made.last->inputs().front()).value(), from);
  const std::int64_t by_it = taken_by_it(from, order.size(), of);
  check_stands_there(from, by_it, order, of);
  const std::int64_t together = taken_together(by_it, made.each, of);
  Checkpoint behind = from;
  behind.delivered = together / here.ranks / made.each;
  behind.last.ordinal = order.at(together - here.ranks + here.rank).value();
  return behind;
}

void check_is_dealt_out(const graph::MadeOf& made, const TwoRanks& of) {
  const char* const known =
      " Other ranks' checkpoints are understood where before shard(world) there are only sources that can be indexed "
      "and what selects or orders them, and behind it only maps, batch() and prefetch()";
  if (made.stranger != nullptr) {
    refuse(of.there(), of.here(),
           "nobody can tell of which positions the elements of " + graph::title_of(*made.stranger) + " (op " +
               std::to_string(made.stranger->position()) + ") are." + known);
  }
  if (shard_among_ranks(*made.last) == nullptr) {
    refuse(of.there(), of.here(),
           graph::title_of(*made.last) + " (op " + std::to_string(made.last->position()) +
               ") stands behind shard(world)." + known);
  }
}

}  // namespace

std::shared_ptr<const Checkpoint> for_this_rank(std::shared_ptr<const Checkpoint> from, const graph::NodeRef& node) {
  if (!from || !node) return from;
  const std::string here = graph::pipeline_text(node);
  if (from->pipeline == here) return from;
  const TwoRanks of(from->pipeline, here, graph::uses(node));
  if (!of.differ_alone()) return from;
  check_made_by_a_run(*from);
  Checkpoint behind = *from;
  if (from->delivered > 0 && !from->epoch_ended) {
    const graph::MadeOf made = graph::made_of(node);
    check_is_dealt_out(made, of);
    behind = translated(*from, made, of);
  }
  behind.pipeline = here;
  return std::make_shared<const Checkpoint>(std::move(behind));
}

}  // namespace penstock::runtime
