#include "lib/core/json.h"

#include <cstdio>

namespace penstock {

std::string in_json(std::string_view text) {
  std::string json = "\"";
  for (const char each : text) {
    const auto code = static_cast<unsigned char>(each);
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
    if (each == '"' || each == '\\') json += '\\';
    json += code < 0x20 ? std::string(escaped) : std::string(1, each);
  }
  return json + "\"";
}

}  // namespace penstock
