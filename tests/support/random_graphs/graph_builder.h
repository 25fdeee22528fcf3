// From a drawn graph to a dataset, through the public API.
#pragma once

#include <penstock/penstock.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/model/list_model.h"
#include "tests/support/random_graphs/courier.h"
#include "tests/support/random_graphs/graph_generator.h"
#include "tests/support/random_graphs/payload.h"

namespace random_graphs {

// What graphs need besides their description. Outlives every run of them.
struct Workbench {
  std::shared_ptr<Courier> courier;
  std::string folder;  // where file lists are written

  // The line `i` of the list of a from_file_list op, as the dataset gives it.
  std::string path(const model::Op& op, std::int64_t i) const;
};

// A dataset of any of the payload types.
struct Built {
  ps::graph::NodeRef node;
  Value (*read)(ps::Element& element);  // takes what a run of it has delivered
};

// With tapes, one per op, each shuffle whose input order is known writes into its own: for serial runs only.
Built build_graph(const Graph& graph, const Workbench& bench, std::vector<model::Tape>* tapes = nullptr);

}  // namespace random_graphs
