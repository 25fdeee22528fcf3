// Where the source is in its passes, and who cuts them short.
#include "lib/exec/pass_control.h"

#include "tests/engine/support.h"

namespace penstock::exec {
namespace {

using testing::eventually;

// The source looks for a cut between two elements, on a thread of its own; ThreadSanitizer watches.
TEST(PassControl, TellsTheSourceOfEachCutThatAnotherThreadAsksFor) {
  PassControl passes({-1}, 0, 1);  // repeated for ever
  std::atomic<std::int64_t> begun{-1};
  const std::jthread consumer([&] {
    for (std::uint32_t sequence = 0; sequence < 20; ++sequence) {
      if (!eventually([&] { return begun == sequence; })) return;
      passes.end(0, sequence);
    }
  });
  for (std::uint32_t sequence = 0; sequence < 20; ++sequence) {
    PassControl::Pass pass;
    ASSERT_TRUE(passes.current(pass));
    EXPECT_EQ(pass.stamp.sequence, sequence);
    EXPECT_FALSE(passes.cut_requested());
    begun = sequence;
    ASSERT_TRUE(eventually([&] { return passes.cut_requested(); }));
    EXPECT_EQ(passes.close().level(), 0);
  }
}

}  // namespace
}  // namespace penstock::exec
