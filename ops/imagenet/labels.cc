#include <penstock/error.h>
#include <penstock/io.h>
#include <penstock/labels.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "lib/base/fnv1a.h"
#include "lib/base/text.h"

namespace penstock {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view label_of_line(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::string_view word = text.substr(0, text.find_first_of(white_space));
  return is_wordnet_id(word) ? word : text;
}

// The path's last component and the one before it; empty where there is none.
std::pair<std::string_view, std::string_view> file_and_folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {path, {}};
  const std::string_view before = path.substr(0, slash);
  const std::size_t next = before.rfind('/');
  return {path.substr(slash + 1), next == std::string_view::npos ? before : before.substr(next + 1)};
}

std::vector<std::string> labels_of_lines(std::string_view text, std::string_view name) {
  text = text.substr(0, text.find_last_not_of(white_space) + 1);
  if (text.empty())
    throw Error(ErrorCode::invalid_argument, in_quotes(name) + " holds no labels; write one on each line");
  std::vector<std::string> labels;
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string_view label = label_of_line(text.substr(0, end));
    if (label.empty())
      throw Error(ErrorCode::invalid_argument, in_quotes(name) + ": line " + std::to_string(labels.size() + 1) +
                                                   " is blank; a label's number is its line's, so each line needs one");
    labels.emplace_back(label);
    if (end == std::string_view::npos) return labels;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

bool is_wordnet_id(std::string_view text) noexcept {
  return text.size() == 9 && text[0] == 'n' && std::all_of(text.begin() + 1, text.end(), is_digit);
}

std::string_view label_in_path(std::string_view path) noexcept {
  const auto [file, folder] = file_and_folder(path);
  if (is_wordnet_id(folder)) return folder;
  const std::size_t end = file.find('_');
  if (end != std::string_view::npos && is_wordnet_id(file.substr(0, end))) return file.substr(0, end);
  return {};
}

std::string label_of_file(std::string_view path, std::string_view first_object) {
  const std::string_view label = label_in_path(path);
  if (!label.empty()) return std::string(label);
  if (!first_object.empty()) return std::string(first_object);
  throw Error(ErrorCode::not_found, in_quotes(path) +
                                        " has no label: neither its folder nor its file name (before '_') is a WordNet "
                                        "id such as n01440764, and no annotation "
                                        "names an object; give it one of these, or take it off the list");
}

LabelTable::LabelTable(std::vector<std::string> names) : names_(std::move(names)), by_name_(names_.size()) {
  std::iota(by_name_.begin(), by_name_.end(), 0);
  std::stable_sort(by_name_.begin(), by_name_.end(),
                   [this](std::int32_t a, std::int32_t b) { return name(a) < name(b); });
}

LabelTable LabelTable::from_names(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return LabelTable(std::move(names));
}

LabelTable LabelTable::from_lines(std::string_view text, std::string_view name) {
  LabelTable table(labels_of_lines(text, name));
  const auto same = [&table](std::int32_t a, std::int32_t b) { return table.name(a) == table.name(b); };
  const auto& order = table.by_name_;
  const auto twice = std::adjacent_find(order.begin(), order.end(), same);
  if (twice == order.end()) return table;
  throw Error(ErrorCode::invalid_argument, in_quotes(name) + ": label " + in_quotes(table.name(*twice)) +
                                               " stands in line " + std::to_string(*twice + 1) + " and again in line " +
                                               std::to_string(*(twice + 1) + 1));
}

LabelTable LabelTable::from_file(const std::string& path) {
  const Tensor file = read_file(path);
  return from_lines({reinterpret_cast<const char*>(file.data()), file.bytes()}, path);
}

std::optional<std::int32_t> LabelTable::find(std::string_view label) const noexcept {
  const auto place = std::lower_bound(by_name_.begin(), by_name_.end(), label,
                                      [this](std::int32_t id, std::string_view text) { return name(id) < text; });
  if (place == by_name_.end() || name(*place) != label) return std::nullopt;
  return *place;
}

std::int32_t LabelTable::id(std::string_view label) const {
  if (const std::optional<std::int32_t> found = find(label)) return *found;
  throw Error(ErrorCode::not_found,
              "label '" + std::string(label) + "' is not among the " + std::to_string(size()) +
                  " known ones; give a table that has it (imagenet::Config::labels, LabelTable::from_file)");
}

std::uint64_t LabelTable::hash() const noexcept {
  std::uint64_t hash = fnv1a("");
  for (const std::string& label : names_) hash = fnv1a("\n", fnv1a(label, hash));
  return hash;
}

}  // namespace penstock
