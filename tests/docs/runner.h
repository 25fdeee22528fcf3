// How the program that code_examples.py makes runs examples and compares values with what the documentation writes:
//
//   a dataset      its elements, a space between them        1 4 7
//   a vector       [2, 3]
//   a text         "n01440764"
//   a number       7
//   a shape        [2, 3]
//
// Needs nothing of penstock: a shape has a to_string() of its own, a dataset is what else can be looped over and is no
// vector and no text.
#pragma once

#include <concepts>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace examples {

inline std::string shown(std::string_view text) { return "\"" + std::string(text) + "\""; }

template <class T>
requires std::is_arithmetic_v<T> std::string shown(T number) { return std::to_string(number); }

template <class T> std::string shown(const std::vector<T>& values);

template <class Values> std::string joined(Values&& values, const std::string& between) {
  std::string text;
  for (auto&& value : values) text += (text.empty() ? "" : between) + shown(value);
  return text;
}

template <class T> std::string shown(const std::vector<T>& values) { return "[" + joined(values, ", ") + "]"; }

template <class T>
concept PrintsItself = requires(const T& value) {
  { to_string(value) } -> std::same_as<std::string>;
};

template <PrintsItself T> std::string shown(const T& value) { return to_string(value); }

template <class Dataset>
requires requires(const Dataset& dataset) {
  dataset.begin();
} &&(!std::is_convertible_v<Dataset, std::string_view> && !PrintsItself<Dataset>)std::string
    shown(const Dataset& dataset) {
  return joined(dataset, " ");
}

inline int failures = 0;  // of the whole program

// Compares what the documentation says of a value with what it is.
template <class T> void expect(const char* place, const T& value, const std::string& promised) {
  const std::string found = shown(value);
  if (found == promised) return;
  ++failures;
  std::cout << place << ": says " << promised << ", but is " << found << '\n';
}

// Runs one example after the other. An exception fails it, and the next one goes on.
class Runner {
 public:
  template <class Example> void run(const char* place) try {
    ++count_;
    Example()();
  } catch (const std::exception& error) {
    ++failures;
    std::cout << place << ": throws " << error.what() << '\n';
  }

  int result() const {
    std::cout << count_ << " examples run, " << failures << " failures\n";
    return failures == 0 && count_ > 0 ? 0 : 1;
  }

 private:
  int count_ = 0;
};

}  // namespace examples
