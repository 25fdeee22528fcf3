// The suite: every check for every op, and the table that says so.
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/check.h"

namespace conformance {

struct Cell {
  std::vector<std::string> findings;
  std::string not_applicable;  // why it was not checked
};

struct Row {
  std::string op;
  std::vector<Cell> cells;  // one for each check
};

// Says what is being done to the watchdog, which ends the process where something hangs.
std::vector<Row> run_suite(const std::vector<Case>& cases);

// For people: a line for each op, what does not apply with its reasons, and the sum.
std::string table_of(const std::vector<Row>& rows);

}  // namespace conformance
