// Hostile files: what each is, how to put it where a good picture would be, and what is to become of it.
#pragma once

#include <penstock/error.h>
#include <penstock/imagenet.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace penstock::hostile {

// Where a picture and its annotation belong. Neither is there yet, but their folders are.
struct Place {
  std::string picture;
  std::string annotation;
};

// What becomes of a file. Without a code it is delivered.
struct Fate {
  std::optional<ErrorCode> code;
  std::string says;     // part of the error's text
  std::string counted;  // beside delivered or skipped: "damaged 1"
};

// Codes of many of them.
inline constexpr auto data_loss = ErrorCode::data_loss;
inline constexpr auto exhausted = ErrorCode::resource_exhausted;

inline Fate delivered(std::string counted = {}) { return {std::nullopt, {}, std::move(counted)}; }
inline Fate refused(ErrorCode code, std::string says) { return {code, std::move(says), {}}; }

// How a file is loaded: load_eval, load_train, or load_crops under a policy.
struct Mode {
  std::string name;
  std::optional<BoxPolicy> boxes;
  std::function<void(imagenet::Config&)> change;  // of the settings; may be null
  bool is_train = false;
};

inline const Mode eval{"eval", std::nullopt, nullptr};
inline const Mode train{"train", std::nullopt, nullptr, true};
inline const Mode tf{"boxes tf", BoxPolicy::tf, nullptr};
inline const Mode strict{"boxes strict", BoxPolicy::strict, nullptr};
inline const Mode clamp{"boxes clamp", BoxPolicy::clamp, nullptr};

struct Input {
  std::string name;
  std::function<void(const Place&)> make;
  Mode mode;
  Fate fate;
  bool needs_no_rights = false;  // shows only where the reader may not read everything
};

std::vector<Input> pictures();     // a JPEG that is none, or an odd one
std::vector<Input> annotations();  // good pictures with bad XML
std::vector<Input> boxes();        // ... with bad boxes, under each policy

void write(const std::string& path, const std::string& bytes);

}  // namespace penstock::hostile
