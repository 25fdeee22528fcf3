// print(): std::snprintf into a string, for lines of tables.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace penstock {

// Up to 511 characters; the rest is cut off. The compiler checks that the values fit the format, as for std::printf.
[[gnu::format(printf, 1, 2)]] inline std::string print(const char* format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  return line;
}

}  // namespace penstock
