// One measurement per line: JSON in the protocol of peers/engine/README.md, or a table for people.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/meter.h"

namespace penstock::bench {

// One line of the report. `figures` are what the case is about, in the order in which they are
// printed; `bar` is what the project has set itself, where it has.
struct Row {
  std::string name;  // of the case
  std::string variant;
  std::int64_t elements = 0;
  Cost cost;
  std::vector<std::pair<std::string, double>> figures;

  struct Bar {
    std::string figure;  // which of the figures
    double value = 0;
    bool at_most = true;  // else at least
  };
  std::vector<Bar> bars;

  double figure(const std::string& key) const;  // std::out_of_range if there is none
  bool meets(const Bar& bar) const;
  bool meets_all() const;
};

// Writes to stdout, line by line.
class Report {
 public:
  explicit Report(bool json) : json_(json) {}
  void add(const Row& row);

 private:
  void print_json(const Row& row) const;
  void print_text(const Row& row);

  bool json_;
  std::string last_case_;
};

}  // namespace penstock::bench
