#include "bench/engine/report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace penstock::bench {
namespace {

// Enough digits to compare, few enough to read.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.5g", value);
  return std::strtod(text, nullptr);
}

std::string verdict(const Row& row, const Row::Bar& bar) {
  char text[160];
  std::snprintf(text, sizeof(text), "   %s %s %.5g: %s", bar.figure.c_str(), bar.at_most ? "<=" : ">=", bar.value,
                row.meets(bar) ? "met" : "NOT MET");
  return text;
}

}  // namespace

double Row::figure(const std::string& key) const {
  for (const auto& [name_of, value] : figures) {
    if (name_of == key) return value;
  }
  throw std::out_of_range("no figure '" + key + "' in case '" + name + "'");
}

bool Row::meets(const Bar& bar) const {
  const double value = figure(bar.figure);
  return bar.at_most ? value <= bar.value : value >= bar.value;
}

bool Row::meets_all() const {
  return std::all_of(bars.begin(), bars.end(), [this](const Bar& bar) { return meets(bar); });
}

void Report::add(const Row& row) {
  if (json_) {
    print_json(row);
  } else {
    print_text(row);
  }
  std::fflush(stdout);
}

// "bar" is the first bar's value, as every case has one at most but for those that list "bars".
void Report::print_json(const Row& row) const {
  nlohmann::ordered_json line;
  line["case"] = row.name;
  line["variant"] = row.variant;
  line["elements"] = row.elements;
  line["wall_s"] = rounded(row.cost.wall_s);
  line["cpu_s"] = rounded(row.cost.cpu_s);
  line["foreign_cores"] = rounded(row.cost.foreign_cores);
  for (const auto& [key, value] : row.figures) line[key] = rounded(value);
  if (!row.bars.empty()) {
    line["bar"] = row.bars.front().value;
    line["bar_of"] = row.bars.front().figure;
    line["met"] = row.meets_all();
  }
  for (std::size_t i = 1; i < row.bars.size(); ++i) line["more_bars"][row.bars[i].figure] = row.bars[i].value;
  std::puts(line.dump().c_str());
}

void Report::print_text(const Row& row) {
  if (row.name != last_case_) std::printf("\n%s\n", row.name.c_str());
  last_case_ = row.name;
  std::printf("  %-34s %9lld elements  wall %8.3f s  cpu %8.3f s  foreign %.2f\n", row.variant.c_str(),
              static_cast<long long>(row.elements), row.cost.wall_s, row.cost.cpu_s, row.cost.foreign_cores);
  for (const auto& [key, value] : row.figures) std::printf("      %-30s %.5g\n", key.c_str(), value);
  for (const Row::Bar& bar : row.bars) std::printf("  %s\n", verdict(row, bar).c_str());
}

}  // namespace penstock::bench
