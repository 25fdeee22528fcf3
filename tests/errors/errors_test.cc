// Every error text that a user can meet, in one file to be read by people: errors.golden.txt. After a change of a text,
// look at what
//   PENSTOCK_UPDATE=1 ctest --preset release -R ErrorTexts
// makes of it. texts_shown.py checks that no text of the sources is missing there.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/errors/catalogue.h"
#include "tests/support/file_contents.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"

namespace penstock::errors {
namespace {

namespace fs = std::filesystem;

const fs::path golden_file = test::source_folder() / "tests/errors/errors.golden.txt";

// What differs from run to run: the folder, and lines of this test's sources.
std::string normalised(std::string text, const std::string& folder) {
  for (std::size_t at = text.find(folder); at != text.npos; at = text.find(folder))
    text.replace(at, folder.size(), "/data");
  text = std::regex_replace(text, std::regex("seed=[0-9]+ \\(drawn\\)"), "seed=7 (drawn)");
  return std::regex_replace(text, std::regex("[a-z_]+\\.(cc|h):[0-9]+"), "train.cc:12");
}

std::string kind_of(const Error& error) {
  if (dynamic_cast<const GraphError*>(&error) != nullptr) return "GraphError";
  if (dynamic_cast<const ElementError*>(&error) != nullptr) return "ElementError";
  return "Error";
}

std::string message(const Case& each) {
  try {
    each.provoke();
  } catch (const Error& error) {
    return kind_of(error) + ", " + std::string(to_string(error.code())) + "\n  " + error.what();
  } catch (const std::exception& error) {
    return std::string("no penstock::Error, but: ") + error.what();
  }
  return "nothing";
}

std::string shown(const Cases& cases, const std::string& folder) {
  std::string text;
  for (const Case& each : cases) text += each.what + "\n  " + normalised(message(each), folder) + "\n\n";
  return text;
}

std::string all_shown() {
  const test::TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);
  const std::pair<const char*, Cases> chapters[] = {
      {"Building a pipeline", graph_cases(folder.path())},
      {"Functions and ops of one's own", function_cases()},
      {"Tensors", tensor_cases()},
      {"Files, pictures, labels", file_cases(folder.path())},
      {"Annotations", annotation_cases(folder.path())},
      {"Image functions", image_cases()},
      {"Outputs of image functions", output_cases()},
      {"Checkpoints", checkpoint_cases()},
      {"Runs and settings", run_cases()},
  };
  std::string text =
      "What was done, the error's type and code, its text. Made by "
      "tests/errors/errors_test.cc.\n\n";
  for (const auto& [title, cases] : chapters) text += "== " + std::string(title) + "\n\n" + shown(cases, folder.path());
  return text;
}

TEST(ErrorTexts, AreTheOnesInTheGoldenFile) {
  const std::string text = all_shown();
  if (::getenv("PENSTOCK_UPDATE") != nullptr) std::ofstream(golden_file) << text;
  EXPECT_EQ(text, test::file_contents(golden_file)) << "if it should be so: PENSTOCK_UPDATE=1, and read the file";
  EXPECT_EQ(text.find("no penstock::Error"), text.npos);
  EXPECT_EQ(text.find("  nothing\n"), text.npos) << "a case provokes no error";
}

// Where to look: the op, its place in the chain and the user's line; of an element also its number, and its file where
// it has one.
TEST(ErrorTexts, OfGraphsAndElementsSayWhere) {
  // None with ".*": std::regex goes one call deeper for each character.
  const std::regex name("[a-z_]+: "), place("\\(op \\d+ of the (chain|pipeline), train\\.cc:12\\)$");
  const std::regex element(
      "[a-z_]+( '[^']+')? \\(op \\d+ at train\\.cc:12\\) failed (at element \\d+ \\(source element \\d+( of op "
      "\\d+)?(, '[^']*')?\\) of|in) epoch 0: ");
  const auto begins_with = [](const std::string& said, const std::regex& what) {
    return std::regex_search(said, what, std::regex_constants::match_continuous);
  };
  int seen = 0;
  std::istringstream lines(test::file_contents(golden_file));
  for (std::string type, said; std::getline(lines, type);) {
    const bool is_graph = type.starts_with("  GraphError, ");
    if ((!is_graph && !type.starts_with("  ElementError, ")) || !std::getline(lines, said)) continue;
    ++seen;
    said = said.substr(2);
    EXPECT_TRUE(is_graph ? begins_with(said, name) && std::regex_search(said, place) : begins_with(said, element))
        << said;
  }
  EXPECT_GT(seen, 80);
}

}  // namespace
}  // namespace penstock::errors
