// penstock-engine: what the engine costs, case by case.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "bench/engine/cases.h"
#include "bench/version.h"

namespace {

using namespace penstock::bench;

std::string describe_cases() {
  std::string text = "Cases:\n";
  for (const Case& each : all_cases())
    text += "  " + std::string(each.name) + std::string(14 - std::string(each.name).size(), ' ') + each.what + "\n";
  return text;
}

std::vector<std::string> names_of_cases() {
  std::vector<std::string> names = {"all"};
  for (const Case& each : all_cases()) names.emplace_back(each.name);
  return names;
}

int run(const std::string& which, const CaseSettings& settings, bool json) {
  Report report(json);
  for (const Case& each : all_cases()) {
    if (which == "all" || which == each.name) each.run(settings, report);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  // Rows are written as they come, so there is nothing to save when somebody has seen enough.
  std::signal(SIGINT, [](int) { ::_exit(130); });
  CLI::App app("What the engine costs on work of known cost. Exit code 0 also where a bar is missed.",
               "penstock-engine");
  app.footer(describe_cases());
  app.set_version_flag("--version", version_text("penstock-engine"));
  std::string which = "all";
  bool json = false;
  CaseSettings settings;
  app.add_option("--case", which, "Which case")->check(CLI::IsMember(names_of_cases()))->capture_default_str();
  app.add_option("--rounds", settings.rounds, "Rounds of each measurement (0: the case's own number)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--json", json, "One JSON object a line on stdout");
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return run(which, settings, json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock-engine: %s\n", error.what());
    return 1;
  }
}
