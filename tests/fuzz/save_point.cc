#include <penstock/checkpoint.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tests/fuzz/pipelines.h"
#include "tests/fuzz/targets.h"

namespace penstock::fuzz {
namespace {

// What it says may be wrong in every way, but two runs must go on from it alike.
void check_going_on(const Pipeline& pipeline, const std::shared_ptr<const Checkpoint>& from) {
  std::optional<Run<Values>> run, again;
  if (!succeeds([&] { run.emplace(saving_run(pipeline, from)); })) return;
  again.emplace(saving_run(pipeline, from));
  const Rest rest = rest_of(*run);
  const Rest same = rest_of(*again);
  require(rest.values == same.values && rest.whole == same.whole, "resuming twice gives the same");
}

}  // namespace

void save_point(std::string_view bytes) {
  if (bytes.size() < 2) return;
  static const std::vector<Checkpoint> all = [] {
    std::vector<Checkpoint> made;
    for (const Pipeline& pipeline : saving_pipelines()) made.push_back(saved(pipeline));
    return made;
  }();
  const std::size_t number = static_cast<unsigned char>(bytes[0]) % all.size();
  Checkpoint checkpoint = all[number];
  checkpoint.since_save_point = static_cast<unsigned char>(bytes[1]) % (checkpoint.delivered + 1);
  checkpoint.save_point = std::string(digest_in(checkpoint.save_point)).append(bytes.substr(2));
  check_going_on(saving_pipelines()[number], std::make_shared<Checkpoint>(std::move(checkpoint)));
}

}  // namespace penstock::fuzz
