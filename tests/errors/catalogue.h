// What a user may do wrong: a sentence, and the code that does it through the public API. errors_test.cc puts what each
// says into errors.golden.txt.
#pragma once

#include <penstock/imagenet.h>
#include <penstock/penstock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace penstock::errors {

struct Case {
  std::string what;
  std::function<void()> provoke;
};

using Cases = std::vector<Case>;

// `folder` is empty, writable, and shown as /data in the golden file.
Cases graph_cases(const std::string& folder);
Cases function_cases();
Cases tensor_cases();
Cases file_cases(const std::string& folder);
Cases annotation_cases(const std::string& folder);
Cases image_cases();
Cases output_cases();
Cases checkpoint_cases();
Cases run_cases();

// Reads an epoch up to its first error, which it throws.
template <class T> void read(const Dataset<T>& dataset, const RunOptions& options = {}) {
  auto run = dataset.start(options);
  while (run.next()) {
  }
}

// The whole element error of a function that is called with 0, 1 and 2 and does wrong at 1.
template <class Wrong> std::function<void()> in_map(Wrong wrong) {
  return [wrong = std::move(wrong)] {
    read(range(3).map([wrong](std::int64_t value) {
      if (value == 1) wrong();
      return value;
    }));
  };
}

std::string write(const std::string& path, const std::string& bytes);

}  // namespace penstock::errors
