// What the program asks of its plugin. Where penstock is a shared library the two are separate objects, each with its
// own hidden copies of every template and inline function, and hand datasets, ops, elements and exceptions to each
// other.
#pragma once

#include <penstock/penstock.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace plugin {

struct Reading {  // larger than what lies inside an Element
  std::string sensor;
  std::vector<double> values;
};

class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Sensors "0", "1", ... with as many values. Number 2 throws Broken, number 3 an Error(data_loss).
penstock::Dataset<Reading> readings(std::int64_t count);

// An op of the plugin's own that doubles all values.
penstock::OpRef doubled();

// Foretells bytes of a Reading.
penstock::MapOptions options();

// Throws penstock's GraphError.
void build_a_wrong_graph();

}  // namespace plugin

#pragma GCC visibility pop
