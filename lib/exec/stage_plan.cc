#include "lib/exec/stage_plan.h"

#include <algorithm>
#include <exception>

#include <penstock/error.h>

#include "lib/graph/node.h"

namespace penstock::exec {

namespace {

// Sources from this number on share it, and are not told apart.
constexpr std::size_t kNoSource = 0xFFFF;

std::string name_of(const IndexedSource* items, std::int64_t ordinal) {
  try {
    return items == nullptr || ordinal < 0 || ordinal >= items->size() ? std::string() : items->origin(ordinal);
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

SourceItem item_of(std::span<const SourcePlan> sources, std::size_t source, std::int64_t ordinal) {
  if (source >= std::min(sources.size(), kNoSource)) return {};
  const SourcePlan& of = sources[source];
  return {.position = sources.size() > 1 ? of.position : -1, .name = name_of(of.items, ordinal)};
}

}  // namespace penstock::exec
