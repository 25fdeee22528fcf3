#include "tests/golden/pipeline_cases.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/golden/pipeline.h"

namespace golden {

namespace ps = penstock;
using nlohmann::json;
using Rows = ps::Dataset<Row>;

namespace {

// Enough to believe that a pipeline is endless.
constexpr std::int64_t kEndless = 100'000;

ps::RunOptions run_options(const Settings& settings) {
  return {.threads = settings.threads, .serial = settings.serial};
}

// Reads at most `limit` elements, so that one that should end but does not is seen.
template <class Rows> std::vector<json> read(Rows&& rows, std::size_t limit) {
  std::vector<json> output;
  for (auto&& row : rows) {
    if (limit > 0) output.push_back(to_json(row));
    if (output.size() >= limit) break;
  }
  return output;
}

std::int64_t count(const Rows& rows, std::int64_t limit, const Settings& settings) {
  auto run = rows.start(run_options(settings));
  std::int64_t n = 0;
  while (n < limit && run.next()) ++n;
  return n;
}

void check_output(const json& expected, const std::vector<json>& got) {
  const auto [at, unused] = std::ranges::mismatch(got, expected);
  const auto first = static_cast<std::size_t>(at - got.begin());
  if (first == got.size() && first == expected.size()) return;
  const std::string where = "element " + std::to_string(first) + " of " + std::to_string(expected.size());
  throw Mismatch(where, first < expected.size() ? expected[first].dump() : "the end",
                 first < got.size() ? got[first].dump() : "the end");
}

// A run's epochs are those of loops that are all read to their end.
void check_epochs(const json& expected, const Rows& rows, const Settings& settings) {
  auto run = rows.start(run_options(settings));
  for (std::uint32_t epoch = 0; epoch < expected.size(); ++epoch)
    check_output(expected[epoch], read(run.epoch(epoch), expected[epoch].size() + 1));
}

// What loops over one dataset have, one after the other, with their own options. Some are left early.
void check_outputs(const json& a_case, const Rows& rows, const Settings& settings) {
  const json& expected = a_case.at("outputs");
  const bool is_endless = std::ranges::any_of(
      a_case.at("ops"), [](const json& op) { return op.at("op") == "repeat" && op.at("n").get<std::int64_t>() < 0; });
  if (!a_case.contains("read") && !is_endless) check_epochs(expected, rows, settings);
  for (std::size_t loop = 0; loop < expected.size(); ++loop) {
    const bool is_left_early = a_case.contains("read") && !a_case["read"][loop].is_null();
    const std::size_t limit = is_left_early ? a_case["read"][loop].get<std::size_t>() : expected[loop].size() + 1;
    check_output(expected[loop], read(rows, limit));
  }
}

// TensorFlow draws other numbers. Any order is right that keeps each input's own, draws nothing of weight 0, and ends
// where it must.
void check_sample(const json& sample, const Rows& rows, const Settings& settings) {
  std::vector<std::vector<json>> left;
  for (const json& ops : sample.at("from"))
    left.push_back(read(build_pipeline(ops).start(run_options(settings)).epoch(0), kEndless));
  const auto weight = [&](std::size_t input) {
    return sample.at("weights").is_null() ? 1.0 : sample["weights"][input].get<double>();
  };
  for (const json& row : read(rows.start(run_options(settings)).epoch(0), kEndless)) {
    std::size_t input = 0;
    while (input < left.size() && (weight(input) == 0 || left[input].empty() || left[input].front() != row)) ++input;
    if (input == left.size()) throw Mismatch("a draw", "the next element of an input with a weight", row.dump());
    left[input].erase(left[input].begin());
  }
  std::size_t ended = 0, weighted = 0;
  for (std::size_t input = 0; input < left.size(); ++input) {
    weighted += weight(input) > 0;
    ended += weight(input) > 0 && left[input].empty();
  }
  const bool stops = sample.at("stop_on_empty");
  if (stops ? ended == 0 : ended < weighted)
    throw Mismatch("the end", "behind " + std::string(stops ? "one input" : "all inputs"), std::to_string(ended));
}

// The real count, where the case tells it: -1 is endless.
std::int64_t real_count(const json& a_case, const Rows& rows, std::int64_t claimed, const Settings& settings) {
  if (a_case.contains("count")) return a_case["count"];
  if (a_case.contains("output")) return static_cast<std::int64_t>(a_case["output"].size());
  const std::int64_t n = count(rows, claimed < 0 ? kEndless : claimed + 1, settings);
  return n == kEndless && claimed < 0 ? ps::INFINITE_CARDINALITY : n;
}

// Where TensorFlow does not know, a number is right if it is the real count.
void check_cardinality(const json& a_case, const Rows& rows, const Settings& settings) {
  const std::int64_t expected = a_case.at("cardinality");
  const std::int64_t got = rows.cardinality();
  if (got == expected) return;
  if (expected != ps::UNKNOWN_CARDINALITY) throw Mismatch("cardinality", std::to_string(expected), std::to_string(got));
  const std::int64_t real = real_count(a_case, rows, got, settings);
  if (got != real) throw Mismatch("cardinality", "-2 or " + std::to_string(real), std::to_string(got));
}

}  // namespace

void check_pipeline(const json& a_case, const Settings& settings) {
  const bool has_global_seed = a_case.contains("global_seed") && !a_case["global_seed"].is_null();
  const Rows rows = build_pipeline(
      a_case.at("ops"), has_global_seed ? std::optional(a_case["global_seed"].get<std::uint64_t>()) : std::nullopt);
  if (a_case.contains("outputs")) return check_outputs(a_case, rows, settings);
  const json& first = a_case.at("ops").at(0);
  if (first.at("op") == "sample") {
    if (a_case["ops"].size() > 1)
      throw Unsupported("ops behind a sample, whose draws are other ones, cannot be compared");
    check_sample(first, rows, settings);
  } else if (a_case.contains("output")) {
    check_output(a_case["output"], read(rows.start(run_options(settings)).epoch(0), a_case["output"].size() + 1));
  }
  check_cardinality(a_case, rows, settings);
}

}  // namespace golden
