// What a body makes of the slots of one call.
#include "lib/exec/body.h"

#include "tests/engine/lone_stage.h"
#include "tests/engine/support.h"

namespace penstock::exec {
namespace {

class AlwaysFailing final : public StreamState {
 public:
  void element(Slot&&, Emitter&) override { throw std::runtime_error("planted"); }
};

TEST(StreamBody, KeepsEachOfSeveralFailuresOfOneCall) {
  testing::NotingHost host(1 << 20);
  StreamBody body(std::make_unique<AlwaysFailing>(), 1, 0, host);
  Group group;
  group.first_ordinal = 10;
  for (std::int64_t i = 0; i < 3; ++i) group.slots.emplace_back(Element(i), Stamp{.ordinal = i});
  Context context({}, 0);
  body.run(group, context);
  ASSERT_EQ(group.slots.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(group.slots[i].kind(), Slot::Kind::failed);
    EXPECT_EQ(group.slots[i].stamp.ordinal, static_cast<std::int64_t>(i));
    EXPECT_EQ(body.failed_input(group, i), 10 + static_cast<std::int64_t>(i));
  }
}

}  // namespace
}  // namespace penstock::exec
