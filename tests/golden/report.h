// What came of the cases: lines on stdout as they end, sums at the end.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace golden {

// What the command line says.
struct Settings {
  std::string data;    // folder of the images; empty: ../data beside the case file
  std::string filter;  // only cases whose id contains it
  bool serial = false;
  int threads = 0;
  bool verbose = false;
  bool json = false;
};

// The case cannot be run because the library does not offer something yet: it counts as skipped,
// with this reason.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A case gave something else than its file says.
class Mismatch : public std::runtime_error {
 public:
  // "WHAT: expected EXPECTED, got GOT"; long values are cut.
  Mismatch(std::string_view what, std::string_view expected, std::string_view got);
};

class Report {
 public:
  explicit Report(const Settings& settings) : settings_(settings) {}

  // Runs a case: failed if `check` throws, skipped if it throws Unsupported, else passed. Cases
  // that the filter leaves out do not run; nor does any after Ctrl-C.
  void run(const std::string& id, const std::function<void()>& check);

  void begin_file(const std::string& name);
  void end_file();
  void close() const;

  bool all_passed() const noexcept { return sum_.failed == 0; }

 private:
  struct Counts {
    int passed = 0;
    int failed = 0;
    int skipped = 0;
    Counts& operator+=(const Counts& other);
  };
  void tell(const std::string& id, std::string_view result, std::string_view reason) const;
  void tell(const Counts& counts) const;

  const Settings& settings_;
  std::string file_;
  Counts in_file_;
  Counts sum_;
  int files_ = 0;
};

// Ctrl-C asks to stop after the case that is running.
void stop_on_interrupt();
bool was_interrupted() noexcept;

}  // namespace golden
