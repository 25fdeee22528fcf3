// Class labels: which one an image has, and which number stands for it.
//
//   ps::LabelTable table = ps::LabelTable::from_names(folder_names);
//   std::int32_t label = table.id(ps::label_of_file("train/n01440764/n01440764_1.JPEG"));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock {

// A WordNet id as ImageNet writes it: "n" and eight digits.
bool is_wordnet_id(std::string_view text) noexcept;

// The label that an image's path tells: its folder's name where that is a WordNet id, else what
// comes before the first "_" of its file name where that is one, else "". The view points into `path`.
//
//   ps::label_in_path("train/n01440764/n01440764_1.JPEG")  ->  "n01440764"
//   ps::label_in_path("images/raccoon-3.jpg")  ->  ""
std::string_view label_in_path(std::string_view path) noexcept;

// The same, and where the path tells none `first_object`, the name of the first object in the
// image's annotation. Error(not_found) if that is empty too.
std::string label_of_file(std::string_view path, std::string_view first_object = {});

// The numbers of the labels. Immutable; may be used from any number of threads. A look-up costs about 0.1 us.
class LabelTable {
 public:
  // An empty table.
  LabelTable() = default;

  // Ids are positions in sorted order (by bytes), whatever the order given; duplicates count once.
  static LabelTable from_names(std::vector<std::string> names);

  // Ids are line numbers from 0. A line is a label, white space around it ignored; of a line that
  // begins with a WordNet id only that counts, so ImageNet's synset_words.txt serves. Blank lines
  // are allowed at the end only. `name` is for error texts: Error(invalid_argument) for a blank
  // line, a repeated label, no labels at all.
  static LabelTable from_lines(std::string_view text, std::string_view name = "the label list");

  // The same from a file; also the errors of read_file().
  static LabelTable from_file(const std::string& path);

  // The label's number. Error(not_found) if it is not in the table.
  std::int32_t id(std::string_view label) const;

  // The same, empty if it is not in the table.
  std::optional<std::int32_t> find(std::string_view label) const noexcept;

  // The label with this number, 0 <= id < size().
  const std::string& name(std::int32_t id) const { return names_.at(static_cast<std::size_t>(id)); }

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(names_.size()); }

  // 64 bits over all labels in the order of their ids: equal on two machines if the tables are.
  // FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv) over each label's bytes and a newline.
  std::uint64_t hash() const noexcept;

 private:
  explicit LabelTable(std::vector<std::string> names);

  std::vector<std::string> names_;     // by id
  std::vector<std::int32_t> by_name_;  // ids in the order of their names
};

}  // namespace penstock

#pragma GCC visibility pop
