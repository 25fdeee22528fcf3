// What becomes of a hostile input, and the table that says so.
#pragma once

#include <string>
#include <vector>

#include "tests/hostile/inputs.h"

namespace penstock::hostile {

// Texts, so that they can be printed and compared.
struct Outcome {
  std::string outcome;  // "delivered", an error's code, or the type of what was thrown
  std::string counted;  // "delivered 1, damaged 1", "skipped 1", or "nothing runs"
  std::string text;     // of the error
};

// Loads the input between good pictures: under skip_all() on threads, and under stop_on_error() serially. Checks that
// the good ones are delivered as they are without it, and that an error names the file.
Outcome load(const Input& input);

// The outcome that an input should have; its text is a part of the whole one.
Outcome expected(const Input& input);

// A line of the table.
struct Row {
  std::string chapter;
  std::string input;
  std::string mode;
  Outcome expected;
  Outcome got;
};

std::vector<Row> file_rows();
std::vector<Row> list_rows();
std::vector<Row> config_rows();
std::vector<Row> function_rows();

}  // namespace penstock::hostile
