// print(): std::snprintf into a string, for lines of tables.
#pragma once

#include <cstdio>
#include <string>

namespace penstock {

// Up to 511 characters; the rest is cut off. The values must fit the format, as for std::printf.
template <class... Values>
std::string print(const char* format, Values... values) {
  char line[512];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

}  // namespace penstock
