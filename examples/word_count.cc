// Counts the words of text files, as `wc -w` does, on all cores.
//
//   word_count FILE...      prints how many lines and words there are in all of them together
//
// Files are read while words are counted, and never held whole. One that cannot be read costs a line on stderr and exit
// code 1; the others are counted all the same.
#include <penstock/penstock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ps = penstock;

namespace {

std::int64_t words_in(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\v\f";
  std::int64_t words = 0;
  while (true) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == line.npos) return words;
    ++words;
    line.remove_prefix(begin);
    line.remove_prefix(std::min(line.find_first_of(blanks), line.size()));
  }
}

struct Counts {
  std::int64_t lines = 0, words = 0;
};

Counts counts_of(const std::vector<std::string>& lines) {
  Counts counts{.lines = static_cast<std::int64_t>(lines.size())};
  for (const std::string& line : lines) counts.words += words_in(line);
  return counts;
}

// False: some could not be read.
bool print_counts(std::vector<std::string> paths) {
  // To count the words of a line takes less than to hand it on, so a thousand lines are one element.
  auto run = ps::lines(std::move(paths)).batch(1024).map(counts_of).start();
  Counts sum;
  bool is_whole = true, has_more = true;
  while (has_more) try {
      const auto counts = run.next();
      has_more = counts.has_value();
      if (counts) sum = {sum.lines + counts->lines, sum.words + counts->words};
    } catch (const ps::ElementError& error) {
      std::cerr << "word_count: " << ps::message_of(error.cause()) << '\n';
      is_whole = false;
    }
  std::cout << sum.lines << " lines, " << sum.words << " words\n";
  return is_whole;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    std::cerr << "usage: word_count FILE...\n";
    return 2;
  }
  return print_counts({arguments + 1, arguments + count}) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "word_count: " << error.what() << '\n';
  return 1;
}
