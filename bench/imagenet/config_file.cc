#include "bench/imagenet/config_file.h"

#include <penstock/io.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace penstock::bench {
namespace {

using nlohmann::json;

// Levenshtein's distance: how many letters must be put in, taken out or changed.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// How unlike two keys are. A missing end ("shuffle" for "shuffle_buffer") weighs half as much as
// wrong letters.
std::size_t unlikeness(std::string_view a, std::string_view b) {
  const std::size_t length_difference = std::max(a.size(), b.size()) - std::min(a.size(), b.size());
  return 2 * edit_distance(a, b) - length_difference;
}

// A value for an error text: a hostile one may be a megabyte long, or nested so deep that printing it ends the process.
std::string shown(const json& value) {
  const auto is_structured = [](const json& part) { return part.is_structured(); };
  if (std::any_of(value.begin(), value.end(), is_structured))
    return "an " + std::string(value.type_name()) + " of " + std::to_string(value.size());
  constexpr std::size_t longest = 60;
  const std::string text = value.dump(-1, ' ', true);  // ASCII, so it can be cut anywhere
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

// One file being read: where its values go and how errors are told.
class Reader {
 public:
  Reader(std::string_view name, ImagenetOptions& options) : name_(name), options_(options) {}

  ConfigFile read(std::string_view text) {
    const json root = parse(text);
    if (!root.is_object()) fail("it is not a JSON object, as in {\"data\": {\"batch_size\": 128}}");
    for (const auto& [key, value] : root.items()) {
      if (key != "data") fail_unknown(key, {"data"});
      if (!value.is_object()) fail("\"data\" must be an object");
      read_data(value);
    }
    return files_;
  }

 private:
  using Handler = std::function<void(const std::string& key, const json& value)>;

  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError("'" + std::string(name_) + "': " + reason);
  }

  [[noreturn]] void fail_unknown(const std::string& key, const std::vector<std::string>& known) const {
    const auto nearest = std::min_element(known.begin(), known.end(),
                                          [&](auto& a, auto& b) { return unlikeness(key, a) < unlikeness(key, b); });
    fail("unknown key " + shown(key) + "; did you mean \"" + *nearest + "\"?");
  }

  json parse(std::string_view text) const {
    try {
      return json::parse(text);
    } catch (const json::parse_error& error) {
      fail("it is not valid JSON at byte " + std::to_string(error.byte));
    } catch (const json::out_of_range&) {
      fail("a number in it is too large for any value");
    }
  }

  void read_data(const json& data) {
    const std::map<std::string, Handler> handlers = known_keys();
    for (const auto& [key, value] : data.items()) {
      const auto handler = handlers.find(key);
      if (handler == handlers.end()) {
        std::vector<std::string> known;
        for (const auto& each : handlers) known.push_back(each.first);
        fail_unknown(key, known);
      }
      handler->second(key, value);
    }
  }

  std::map<std::string, Handler> known_keys();

  std::string text(const std::string& key, const json& value) const {
    if (!value.is_string()) fail("\"" + key + "\" must be a string, but is " + shown(value));
    return value.get<std::string>();
  }

  std::int64_t number(const std::string& key, const json& value, std::int64_t low) const {
    // Compared as JSON, which knows numbers above 2^63.
    if (!value.is_number_integer() || value < low || value > largest_number)
      fail("\"" + key + "\" must be a whole number from " + std::to_string(low) + " to " +
           std::to_string(largest_number) + ", but is " + shown(value));
    return value.get<std::int64_t>();
  }

  bool truth(const std::string& key, const json& value) const {
    if (!value.is_boolean()) fail("\"" + key + "\" must be true or false, but is " + shown(value));
    return value.get<bool>();
  }

  image::Size size(const std::string& key, const json& value) const {
    if (!value.is_array() || value.size() != 2) fail("\"" + key + "\" must be [height, width], but is " + shown(value));
    return {number(key, value[0], 1), number(key, value[1], 1)};
  }

  void check_channels(const std::string& key, const json& value) const {
    if (number(key, value, 1) != image::channels) fail("\"" + key + "\" must be 3, but is " + shown(value));
  }

  std::string_view name_;
  ImagenetOptions& options_;
  ConfigFile files_;
};

// The published keys, and the ones of later editions of the workshop.
std::map<std::string, Reader::Handler> Reader::known_keys() {
  const auto ignore = [this](const std::string& key, const json& value) { number(key, value, 0); };
  const auto put = [](auto& place, auto read) {
    return [&place, read](const std::string& key, const json& value) { place = read(key, value); };
  };
  const auto count = [this](const std::string& key, const json& value) { return number(key, value, 1); };
  const auto path = [this](const std::string& key, const json& value) { return text(key, value); };
  return {
      {"handler", [this](auto& key, auto& value) { text(key, value); }},
      {"batch_size", put(options_.batch, count)},
      {"train_filelist", put(files_.train_filelist, path)},
      {"test_filelist", put(files_.test_filelist, path)},
      {"shuffle_buffer", put(options_.shuffle_buffer, count)},
      {"reshuffle_each_iteration",
       put(options_.reshuffle, [this](auto& key, auto& value) { return truth(key, value); })},
      {"num_parallel_readers", ignore},
      {"prefectch_buffer_size", ignore},
      {"prefetch_buffer_size", ignore},
      {"crop_image_size", put(options_.crop, [this](auto& key, auto& value) { return size(key, value); })},
      {"num_classes", put(options_.num_classes, count)},
      {"num_channels", [this](auto& key, auto& value) { check_channels(key, value); }},
  };
}

}  // namespace

ConfigFile apply_config(std::string_view json_text, std::string_view name, ImagenetOptions& options) {
  return Reader(name, options).read(json_text);
}

ConfigFile apply_config_file(const std::string& path, ImagenetOptions& options) {
  try {
    const Tensor file = read_file(path, {.max_bytes = 1 << 20});
    return apply_config({reinterpret_cast<const char*>(file.data()), file.bytes()}, path, options);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace penstock::bench
