// Deliveries against the model's items.
#pragma once

#include <span>
#include <string>

#include "tests/support/random_graphs/trial.h"

namespace random_graphs {

struct Comparison {
  const Graph& graph;
  const Workbench& bench;
  bool with_positions = true;  // of ops that failed; false where recorders stood between them
  // Which of its inputs an op failed on; false where a run began in the middle.
  bool with_inputs = true;

  // `got` must be what follows items[from], and all of it if `to_the_end`. Throws Failure.
  void check(const Items& items, std::span<const Delivery> got, std::size_t from, bool to_the_end) const;

 private:
  bool is_same(const model::Item& item, const Delivery& got) const;
  bool counts_are_certain() const;
  bool is_same_place(const model::Item& item, const ps::ErrorPlace& place) const;
  void check_group(const Items& items, std::size_t begin, std::size_t end, std::span<const Delivery> got) const;
  std::string text_of(const model::Item& item) const;
};

std::string text_of(const Value& value);
std::string text_of(const Delivery& delivery);

}  // namespace random_graphs
