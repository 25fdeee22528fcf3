#include "lib/exec/stage_plan.h"

#include <algorithm>
#include <exception>

#include <penstock/error.h>

#include "lib/graph/node.h"

namespace penstock::exec {

namespace {

// Sources from this number on share it, and are not told apart.
constexpr std::size_t kNoSource = 0xFFFF;

std::string name_of(const SourcePlan& source, std::int64_t ordinal, const ReaderNames& reader_names) {
  try {
    if (source.items == nullptr) return reader_names ? reader_names(source.reader) : std::string();
    return ordinal < 0 || ordinal >= source.items->size() ? std::string() : source.items->origin(ordinal);
  } catch (...) {
    return "? (the source failed to name it: " + message_of(std::current_exception()) + ")";
  }
}

}  // namespace

StageLabel label_of(const graph::Node& node, int number) {
  return {graph::label_of(node), graph::title_of(node), graph::to_string(node.site()), number};
}

std::uint16_t Plan::add_source(const SourcePlan& source) {
  sources.push_back(source);
  return static_cast<std::uint16_t>(std::min(sources.size() - 1, kNoSource));
}

SourceItem item_of(std::span<const SourcePlan> sources, std::size_t source, std::int64_t ordinal,
                   const ReaderNames& reader_names) {
  if (source >= std::min(sources.size(), kNoSource)) return {};
  const SourcePlan& of = sources[source];
  return {.position = sources.size() > 1 ? of.position : -1, .name = name_of(of, ordinal, reader_names)};
}

}  // namespace penstock::exec
