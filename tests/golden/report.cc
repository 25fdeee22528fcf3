#include "tests/golden/report.h"

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

namespace golden {
namespace {

constexpr std::size_t kLongest = 160;

std::string cut(std::string_view text) {
  if (text.size() <= kLongest) return std::string(text);
  return std::string(text.substr(0, kLongest)) + " ...";
}

// A signal handler may touch nothing else.
volatile std::sig_atomic_t interrupted = 0;

}  // namespace

Mismatch::Mismatch(std::string_view what, std::string_view expected, std::string_view got)
    : std::runtime_error(std::string(what) + ": expected " + cut(expected) + ", got " + cut(got)) {}

Report::Counts& Report::Counts::operator+=(const Counts& other) {
  passed += other.passed;
  failed += other.failed;
  skipped += other.skipped;
  return *this;
}

void Report::run(const std::string& id, const std::function<void()>& check) {
  if (was_interrupted() || id.find(settings_.filter) == std::string::npos) return;
  try {
    check();
    ++in_file_.passed;
    if (settings_.verbose) tell(id, "passed", "");
  } catch (const Unsupported& reason) {
    ++in_file_.skipped;
    tell(id, "skipped", reason.what());
  } catch (const std::exception& reason) {
    ++in_file_.failed;
    tell(id, "failed", reason.what());
  }
}

void Report::begin_file(const std::string& name) {
  file_ = name;
  in_file_ = {};
  ++files_;
}

void Report::end_file() {
  sum_ += in_file_;
  if (settings_.json || files_ == 0) return;
  std::cout << file_ << ": ";
  tell(in_file_);
}

void Report::close() const {
  if (settings_.json) {
    std::cout << nlohmann::json{{"program", "penstock-golden"},
                                {"passed", sum_.passed},
                                {"failed", sum_.failed},
                                {"skipped", sum_.skipped}}
              << std::endl;
  } else {
    tell(sum_);
  }
}

void Report::tell(const std::string& id, std::string_view result, std::string_view reason) const {
  if (settings_.json) {
    std::cout << nlohmann::json{{"file", file_}, {"id", id}, {"result", result}, {"reason", reason}} << std::endl;
  } else {
    std::cout << result << ' ' << id << (reason.empty() ? "" : ": ") << reason << std::endl;
  }
}

void Report::tell(const Counts& counts) const {
  std::cout << counts.passed << " passed, " << counts.failed << " failed";
  if (counts.skipped > 0) std::cout << ", " << counts.skipped << " skipped";
  std::cout << std::endl;
}

void stop_on_interrupt() {
  std::signal(SIGINT, [](int) { interrupted = 1; });
}

bool was_interrupted() noexcept { return interrupted != 0; }

}  // namespace golden
