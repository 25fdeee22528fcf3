// Lists that are given in turn, as interleave gives datasets: the rule by itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace trees {

using Item = std::optional<std::int64_t>;  // none: an error
using Items = std::vector<Item>;

inline constexpr std::size_t kMostItems = 4000;  // of an endless list

struct Turns {
  std::size_t cycle, block;
};
// As far as is known of an endless input.
template <class ItemsOf>
Items given_in_turn(const Items& in, bool is_endless, const Turns& turns, const ItemsOf& items_of) {
  Items given;
  std::vector<std::optional<Items>> places(turns.cycle);  // what is left, the next one last
  std::size_t next = 0, open = 0, turn = 0, of_block = 0;
  const auto go_on = [&] { turn = (turn + 1) % turns.cycle, of_block = 0; };
  while (!is_endless || given.size() < kMostItems) {
    auto& place = places[turn];
    if (!place && next < in.size()) {
      place = items_of(in[next++]);
      std::ranges::reverse(*place);
      ++open;
    } else if (!place && (open == 0 || is_endless)) {
      break;
    } else if (!place) {
      go_on();
    } else if (place->empty()) {
      place.reset();
      --open;
      go_on();
    } else {
      given.push_back(place->back());
      place->pop_back();
      if (++of_block == turns.block) go_on();
    }
  }
  return given;
}

}  // namespace trees
