// What a pipeline of the list model gives in an epoch, as one line: for tests that write down by hand what is right.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/model/list_model.h"

namespace model {

inline std::string text_of(const Value& value) {
  if (!value.is_list) return std::to_string(value.number);
  std::string text = "[";
  for (const Value& row : value.rows) text += (text.size() > 1 ? " " : "") + text_of(row);
  return text + "]";
}

// "0 1 X2 [3 4]": X2 is an error of op 2.
inline std::string run(std::vector<Op> ops, std::vector<Tape> tapes = {}, int at_most = 100) {
  Pipeline pipeline(std::move(ops), std::move(tapes));
  pipeline.begin_epoch(0);
  std::string text;
  for (int i = 0; i < at_most; ++i) {
    const auto item = pipeline.next();
    if (!item) break;
    text += (text.empty() ? "" : " ") + (item->failed() ? "X" + std::to_string(item->failed_op) : text_of(item->value));
  }
  return text;
}

}  // namespace model
