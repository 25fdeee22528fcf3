// penstock-golden: runs the cases of golden files through the public API and compares.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/version.h"
#include "tests/golden/image_cases.h"
#include "tests/golden/pipeline_cases.h"
#include "tests/golden/report.h"

namespace golden {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json parse(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error(file + ": cannot be opened");
  try {
    return json::parse(stream);
  } catch (const json::exception& error) {
    throw std::runtime_error(file + ": " + error.what());
  }
}

// Pictures lie in ../data as seen from the case file, unless the command line says otherwise.
fs::path data_folder(const std::string& file, const Settings& settings) {
  return settings.data.empty() ? fs::path(file).parent_path() / ".." / "data" : fs::path(settings.data);
}

void run_images(const json& images, const fs::path& data, Report& report) {
  for (const json& image : images)
    image.contains("crops") ? check_crops(image, data, report) : check_operators(image, data, report);
}

void run_file(const std::string& file, const Settings& settings, Report& report) {
  const json content = parse(file);
  report.begin_file(file);
  if (content.contains("images")) {
    run_images(content["images"], data_folder(file, settings), report);
  } else {
    for (const json& a_case : content.at("cases"))
      report.run(a_case.at("id"), [&] { check_pipeline(a_case, settings); });
  }
  report.end_file();
}

int run(const std::vector<std::string>& files, const Settings& settings) {
  stop_on_interrupt();
  Report report(settings);
  for (const std::string& file : files) run_file(file, settings, report);
  report.close();
  if (was_interrupted()) return 130;
  return report.all_passed() ? 0 : 1;
}

int main_of(int argc, char** argv) {
  CLI::App app("Runs golden cases through penstock's public API and compares the results.");
  Settings settings;
  std::vector<std::string> files;
  app.add_option("FILE.json", files, "Case files")->required();
  app.add_option("--data", settings.data, "Folder of the images (default: ../data beside each file)");
  app.add_option("--filter", settings.filter, "Only cases whose id contains this");
  app.add_flag("--serial", settings.serial, "Serial executor instead of threads");
  app.add_option("--threads", settings.threads, "CPU slots; 0: all cores")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--verbose", settings.verbose, "Also name the cases that passed");
  app.add_flag("--json", settings.json, "One JSON object a line");
  app.set_version_flag("--version", penstock::bench::version_text("penstock-golden"));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return run(files, settings);
}

}  // namespace
}  // namespace golden

int main(int argc, char** argv) {
  try {
    return golden::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "penstock-golden: " << error.what() << '\n';
    return 1;
  }
}
