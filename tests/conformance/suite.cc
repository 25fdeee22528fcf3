#include "tests/conformance/suite.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <map>
#include <sstream>

#include "tests/support/watchdog.h"

namespace conformance {
namespace {

std::string mark_of(const Cell& cell) {
  if (!cell.not_applicable.empty()) return "-";
  return cell.findings.empty() ? "ok" : "FAILS";
}

class Table {
 public:
  explicit Table(const std::vector<Row>& rows) {
    for (const Row& row : rows) width_ = std::max(width_, static_cast<int>(row.op.size()));
    head();
    for (const Row& row : rows) line(row);
    for (const auto& [reason, cells] : reasons_) text_ << "  -  " << reason << ": " << cells << '\n';
    sum(rows.size());
  }
  std::string text() const { return text_.str(); }

 private:
  void head() {
    text_ << std::left << std::setw(width_) << "op";
    for (const Check& check : all_checks()) text_ << "  " << check.name;
    text_ << '\n';
  }
  void line(const Row& row) {
    text_ << std::left << std::setw(width_) << row.op;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const char* check = all_checks()[i].name;
      const Cell& cell = row.cells[i];
      text_ << "  " << std::setw(static_cast<int>(std::strlen(check))) << mark_of(cell);
      if (!cell.not_applicable.empty()) {
        std::string& cells = reasons_[std::string(check) + ": " + cell.not_applicable];
        cells += (cells.empty() ? "" : ", ") + row.op;
        ++skipped_;
      } else {
        ++(cell.findings.empty() ? passed_ : failed_);
      }
    }
    text_ << '\n';
  }
  void sum(std::size_t rows) {
    text_ << "ops x checks: " << rows << " x " << all_checks().size() << ", "
          << (failed_ == 0 ? "all passed" : std::to_string(failed_) + " FAILED") << " (" << passed_ << " passed, "
          << skipped_ << " do not apply)\n";
  }

  int width_ = 0;
  int passed_ = 0, failed_ = 0, skipped_ = 0;
  std::map<std::string, std::string> reasons_;
  std::ostringstream text_;
};

}  // namespace

std::vector<Row> run_suite(const std::vector<Case>& cases) {
  penstock::test::Watchdog watchdog;
  std::vector<Row> rows;
  for (Case tested : cases) {
    Row row{tested.name, {}};
    for (const Check& check : all_checks()) {
      tested.tell_progress = [&] { watchdog.watch(tested.name + ": " + check.name); };
      tested.tell_progress();
      Cell cell{{}, check.not_applicable(tested)};
      if (cell.not_applicable.empty()) cell.findings = findings_of(check, tested);
      row.cells.push_back(std::move(cell));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string table_of(const std::vector<Row>& rows) { return Table(rows).text(); }

}  // namespace conformance
