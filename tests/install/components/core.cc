// Text alone: lines of a file become batches of word counts. Prints "passed", or what is wrong.
#include <penstock/penstock.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace ps = penstock;

namespace {

std::int64_t count_words(const std::string& line) {
  std::istringstream words(line);
  std::int64_t count = 0;
  for (std::string word; words >> word;) ++count;
  return count;
}

}  // namespace

int main(int, char** argv) {
  const std::string path = std::string(argv[0]) + ".txt";
  std::ofstream(path) << "/one\n/one two\n/one two three\n/1 2 3 4\n";
  std::int64_t words = 0, batches = 0;
  for (auto&& batch : ps::from_file_list(path).shuffle(4, {.seed = 7}).map(count_words).batch(3)) {
    for (const std::int64_t count : batch) words += count;
    ++batches;
  }
  std::remove(path.c_str());
  const bool passed = words == 10 && batches == 2;
  std::cout << (passed ? "passed"
                       : "wrong: " + std::to_string(words) + " words in " + std::to_string(batches) + " batches")
            << '\n';
  return passed ? 0 : 1;
}
