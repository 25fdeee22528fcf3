// The lines of a text, letter by letter: what io::LineReader and ps::lines() are compared with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock::test {

inline std::vector<std::string> plain_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::string line;
  for (const char letter : text) {
    line += letter;
    if (letter != '\n') continue;
    line.pop_back();
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
    line.clear();
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace penstock::test
