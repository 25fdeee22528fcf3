#include "plugin.h"

#include <memory>
#include <span>

namespace ps = penstock;

namespace plugin {
namespace {

Reading read(std::int64_t number) {
  if (number == 2) throw Broken("sensor 2 is broken");
  if (number == 3) throw ps::Error(ps::ErrorCode::data_loss, "sensor 3 lost its data");
  return {std::to_string(number), std::vector<double>(static_cast<std::size_t>(number), 0.5)};
}

class Doubled final : public ps::ElementwiseOp {
 public:
  std::string name() const override { return "doubled"; }
  ps::Flow flow(const ps::Flow& input) const override { return input; }
  bool may_fan_out() const override { return false; }
  void run(std::span<ps::Slot> slots, ps::Context&) const override {
    for (ps::Slot& slot : slots)
      for (double& value : slot.value.get<Reading>().values) value *= 2;
  }
};

}  // namespace

ps::Dataset<Reading> readings(std::int64_t count) { return ps::range(count).map(read); }

ps::OpRef doubled() { return std::make_shared<Doubled>(); }

ps::MapOptions options() {
  return {.bytes_hint = [](const Reading& reading) { return reading.values.size() * sizeof(double); }};
}

void build_a_wrong_graph() { ps::range(3).batch(0); }

}  // namespace plugin
