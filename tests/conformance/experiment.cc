#include "tests/conformance/experiment.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/conformance/merges.h"

namespace conformance {
namespace {

// Planted failures say which number failed, if only by a file's name. Of others, as of a lost answer, the words are the
// engine's.
std::string words_of(const std::string& cause) {
  constexpr std::string_view words = "fails on ";
  const std::size_t at = cause.find(words);
  if (at == std::string::npos) return "in the engine's words";
  return cause.substr(at, cause.find_first_not_of("0123456789", at + words.size()) - at);
}

std::string error_text(const ps::ErrorPlace& place, bool with_inputs, const std::string& cause) {
  return "error of " + place.op + " at " + std::to_string(place.position) +
         (with_inputs ? ", input " + std::to_string(place.ordinal) : "") + ", from '" + place.origin + "' " +
         std::to_string(place.source_ordinal) + ", epoch " + std::to_string(place.epoch) + ": " + words_of(cause);
}

constexpr int kOpsOfBranch = 2;  // the source and the step
constexpr std::size_t all_of_a_branch = std::numeric_limits<std::size_t>::max();

bool is_error(const std::string& text) { return text.starts_with("error"); }

// What a serial run delivered, as passes of a shuffle over tokens.
model::Tape tape_of(const Texts& texts, std::size_t per_pass, std::uint32_t epoch) {
  model::Tape tape;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i % per_pass == 0) tape.push_back({.ended = true});
    model::Item item;
    if (is_error(texts[i])) {
      item.failed_op = 0;
    } else {
      const std::int64_t number = std::stoll(texts[i]);
      item.value = model::number(number);
      item.origin = {epoch, static_cast<std::uint32_t>(tape.size() - 1), number};
    }
    tape.back().items.push_back(std::move(item));
  }
  return tape;
}

}  // namespace

Experiment::Experiment(const Case& tested, Settings settings) : case_(tested), settings_(settings), ops_(tested.ops) {
  case_.tell_progress();
  if (case_.traits.place == Place::source) ops_.front().count = settings.count;
  if (case_.traits.calls_function) ops_.back().fails = settings.function_fails;
  if (settings.pumped) pumped_ = std::make_shared<random_graphs::PumpedCourier>();
  if (!settings.pumped) courier_.emplace(settings.jitter);
  feed_ = {.count = settings.count,
           .fails = settings.source_fails,
           .jitter = settings.jitter,
           .gate = settings.gated ? &gate_ : nullptr,
           .census = census_,
           .folder = folder_.path()};
  feed_.courier = settings.pumped ? static_cast<random_graphs::Courier*>(pumped_.get()) : &*courier_;
  built_ = (settings.move_only ? case_.build_move_only : case_.build)(ops_, feed_);
  if (settings.passes != 1)
    built_->node = ps::graph::append(built_->node, ps::ops::repeat(settings.passes), ps::CallSite::here());
}

Experiment::~Experiment() { alive_after_all(); }

RunRef Experiment::start(const ps::RunOptions& options) const {
  case_.tell_progress();
  return ps::detail::start_run(built_->node, options);
}

std::optional<std::string> Experiment::next(ps::detail::RunCore& run, bool with_inputs) const {
  ps::Element element;
  try {
    if (run.next(element, nullptr) == ps::detail::RunCore::Status::end) return std::nullopt;
    return built_->text(element);
  } catch (const ps::ElementError& error) {
    return error_text(error.place(), with_inputs, ps::message_of(error.cause()));
  }
}

Texts Experiment::rest(ps::detail::RunCore& run, bool with_inputs) const {
  Texts texts;
  while (auto text = next(run, with_inputs)) texts.push_back(std::move(*text));
  return texts;
}

// The harness's step passes everything on, as a prefetch does. Ops over positions choose before
// anything is read: the source fails behind them.
std::vector<Op> Experiment::model_ops() const {
  const Place place = case_.traits.place;
  const bool over_positions = place == Place::positions;
  std::vector<Op> ops;
  if (place != Place::source) ops.push_back({.kind = Kind::range, .count = settings_.count});
  if (place == Place::stream) ops.push_back({.kind = Kind::prefetch});
  if (!over_positions && place != Place::source) ops.front().fails = settings_.source_fails;
  ops.insert(ops.end(), ops_.begin(), ops_.end());
  if (over_positions) ops.push_back({.kind = Kind::map, .fails = settings_.source_fails});
  if (settings_.passes != 1) ops.push_back({.kind = Kind::repeat, .count = settings_.passes});
  return ops;
}

// Positions have an order of their own, whatever fails at them.
Texts Experiment::recorded(std::uint32_t epoch) const {
  Settings settings = settings_;
  if (case_.traits.place == Place::positions) settings.source_fails = {};
  settings.gated = settings.pumped = false;
  const Experiment recording(case_, settings);
  const RunRef run = recording.start({.first_epoch = epoch, .serial = true});
  return recording.rest(*run);
}

// The order of a shuffle is recorded from a serial run. The model says whether it is a legal one.
std::vector<model::Tape> Experiment::tapes(std::uint32_t epoch) const {
  const std::vector<Op> ops = model_ops();
  std::vector<model::Tape> tapes(ops.size());
  const auto shuffle = std::ranges::find(ops, Kind::shuffle, &Op::kind);
  if (shuffle == ops.end()) return tapes;
  tapes[static_cast<std::size_t>(shuffle - ops.begin())] =
      tape_of(recorded(epoch), static_cast<std::size_t>(settings_.count), epoch);
  return tapes;
}

// What a branch of a merge gives in a pass.
std::vector<model::Item> Experiment::branch(std::size_t number, std::uint32_t epoch) const {
  model::Pipeline pipeline({{.kind = Kind::range,
                             .count = settings_.count,
                             .first = first_of_branch(number),
                             .fails = settings_.source_fails}});
  pipeline.begin_epoch(epoch);
  std::vector<model::Item> items;
  while (const auto item = pipeline.next()) {
    items.push_back(*item);
    if (item->failed()) items.back().failed_op = kOpsOfBranch * static_cast<int>(number);
  }
  return items;
}

// In all passes; or, of the first one, what comes of so many slots of each branch.
std::vector<model::Item> Experiment::merged(std::uint32_t epoch, std::size_t most_of_a_branch) const {
  Branches branches{branch(0, epoch), branch(1, epoch)};
  const auto count = static_cast<std::size_t>(settings_.count);
  const std::int64_t passes = most_of_a_branch < count ? 1 : settings_.passes;
  for (auto& items : branches) items.resize(std::min(items.size(), most_of_a_branch));
  std::vector<model::Item> all;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    for (model::Item& item : case_.merged(branches, count)) {
      item.origin.pass = static_cast<std::uint32_t>(pass);
      all.push_back(std::move(item));
    }
  }
  return all;
}

Texts Experiment::expected(std::uint32_t epoch, bool with_inputs) const {
  if (case_.merged) {
    Texts texts;
    for (const model::Item& item : merged(epoch, all_of_a_branch)) texts.push_back(text_of(item, with_inputs));
    return texts;
  }
  model::Pipeline pipeline(model_ops(), tapes(epoch));
  pipeline.begin_epoch(epoch);
  Texts texts;
  while (const auto item = pipeline.next()) texts.push_back(text_of(*item, with_inputs));
  return texts;
}

bool Experiment::is_source(int position) const { return case_.merged ? position % kOpsOfBranch == 0 : position == 0; }

std::string Experiment::name_of(int position) const {
  if (is_source(position) && case_.traits.place != Place::source) return "source";
  return model::name_of(model_ops()[static_cast<std::size_t>(position)]);
}

std::string Experiment::text_of(const model::Item& item, bool with_inputs) const {
  if (!item.failed()) return conformance::text_of(item.value);
  const Place place = case_.traits.place;
  const int position = place == Place::positions ? 0 : item.failed_op;
  const ps::ErrorPlace where{.op = name_of(position),
                             .position = position,
                             .call_site = "",
                             .ordinal = is_source(position) ? item.origin.ordinal : item.input,
                             .source_ordinal = item.origin.ordinal,
                             .origin = place == Place::source ? "" : "item " + std::to_string(item.origin.ordinal),
                             .epoch = item.origin.epoch};
  return error_text(where, with_inputs, item.cause);
}

std::size_t Experiment::due_after(std::int64_t elements) const {
  if (case_.merged) return merged(0, static_cast<std::size_t>(elements)).size();
  model::Pipeline pipeline(model_ops(), {}, elements);
  pipeline.begin_epoch(0);
  std::size_t due = 0;
  try {
    while (pipeline.next()) ++due;
  } catch (const model::TooMuchWork&) {
  }
  return due;
}

std::int64_t Experiment::alive_after_all() {
  built_.reset();
  gate_.clear();
  pumped_.reset();
  courier_.reset();
  return census_->alive();
}

}  // namespace conformance
