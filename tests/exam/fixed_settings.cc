#include "tests/exam/fixed_settings.h"

#include <algorithm>
#include <utility>

namespace penstock::exam {
namespace {

class FixedSettings final : public autotune::Policy {
 public:
  FixedSettings(int chain, std::vector<Time> begins, std::vector<Optimum> optima)
      : chain_(chain), begins_(std::move(begins)), optima_(std::move(optima)) {}

  void tick(const Snapshot& now, std::vector<Knob>& knobs) override {
    if (next_ == begins_.size() || begins_[next_] > now.time_ns) return;
    for (const Setting& setting : optima_[next_++].settings) {
      for (Knob& knob : knobs) {
        if (setting.chain == chain_ && knob.name == setting.knob && knob.stage == setting.stage)
          move(knob, setting.value, Reason::rule, now);
      }
    }
  }

 private:
  const int chain_;
  const std::vector<Time> begins_;
  const std::vector<Optimum> optima_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<autotune::Policy> fixed_settings(int chain, std::vector<Time> begins, std::vector<Optimum> optima) {
  return std::make_unique<FixedSettings>(chain, std::move(begins), std::move(optima));
}

}  // namespace penstock::exam
