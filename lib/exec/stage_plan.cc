#include "lib/exec/stage_plan.h"

#include <algorithm>
#include <exception>

#include <penstock/error.h>

namespace penstock::exec {

namespace {

// Sources from this number on share it, and are not told apart.
constexpr std::size_t kNoSource = 0xFFFF;

std::string name_of(const SourcePlan& source, std::int64_t ordinal, const Plan::ReaderNames& reader_names) {
  try {
    if (source.items == nullptr) return reader_names ? reader_names(source.stage) : std::string();
    return ordinal < 0 || ordinal >= source.items->size() ? std::string() : source.items->origin(ordinal);
  } catch (...) {
    return "? (the source failed to name it: " + message_of(std::current_exception()) + ")";
  }
}

}  // namespace

std::uint16_t Plan::add_source(const SourcePlan& source) {
  sources.push_back(source);
  return static_cast<std::uint16_t>(std::min(sources.size() - 1, kNoSource));
}

SourceItem Plan::item(std::size_t source, std::int64_t ordinal, const ReaderNames& reader_names) const {
  if (source >= std::min(sources.size(), kNoSource)) return {};
  const SourcePlan& of = sources[source];
  return {.position = sources.size() > 1 ? of.position : -1, .name = name_of(of, ordinal, reader_names)};
}

}  // namespace penstock::exec
