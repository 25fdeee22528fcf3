// Text for JSON.
#pragma once

#include <string>
#include <string_view>

namespace penstock {

// A string of JSON, quotes included.
std::string in_json(std::string_view text);

}  // namespace penstock
