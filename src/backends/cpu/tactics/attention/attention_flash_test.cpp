// What the operators' cases do not reach of attention in f32: values that are not finite behind keys that rows do not see.
#include <cmath>
#include <limits>

#include "backends/cpu/cpu_info.h"
#include "backends/tactic_for_tests.h"

namespace tenfold::backends {
Tactic cpu_attention_flash();
namespace {

using testing::TacticRun;

// Hidden keys weigh nothing, but their values may still be met, times zero: by the same rows for all numbers of workers.
TEST(AttentionFlash, HiddenValuesDoNotTellHowRowsWereCut) {
  constexpr int kRows = 300, kSize = 16, kSeen = 252;   // rows before that are in no tile that sees keys from 256 on
  const ir::OpDef& op = ir::Registry::builtin().get("FusedAttention");
  const ops::Case parsed = ops::parse_case(op, "f32[1,1,300,16] f32[1,1,300,16] f32[1,1,300,16] causal=1 scale=0.25");
  const ir::Graph graph = ops::case_graph(ir::Registry::builtin(), op, parsed);
  std::vector<Tensor> operands;
  for (const ops::CaseOperand& o : parsed.operands) operands.push_back(o.data);
  for (int i = 0; i < kSize; ++i)
    operands[2].mutable_data<float>()[(kRows - 1) * kSize + i] = std::numeric_limits<float>::quiet_NaN();
  const Tactic tactic = cpu_attention_flash();
  for (const std::uint32_t features : {std::uint32_t{kAvx2}, cpu::this_cpu().features}) {
    const TacticRun run(tactic, graph, features);
    Serial serial;
    testing::Backwards backwards(7);
    const Tensor alone = run.run({0}, operands, serial)[0], shared = run.run({0}, operands, backwards)[0];
    for (int row = 0; row < kRows; ++row)
      for (int i = 0; i < kSize; ++i) {
        const float a = alone.data<float>()[row * kSize + i], b = shared.data<float>()[row * kSize + i];
        ASSERT_EQ(std::isnan(a), std::isnan(b)) << "row " << row;
        ASSERT_FALSE(row < kSeen && std::isnan(a)) << "row " << row;
        ASSERT_TRUE(std::isnan(a) || a == b) << "row " << row;
      }
  }
}

}  // namespace
}  // namespace tenfold::backends
