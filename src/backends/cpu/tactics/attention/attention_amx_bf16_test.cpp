// What the operators' cases do not reach of attention with AMX: rows that see nothing, several blocks of keys under such a mask,
// permission.
#include <cmath>
#include <limits>

#include "backends/cpu/cpu_info.h"
#include "backends/tactic_for_tests.h"

namespace tenfold::backends {
Tactic cpu_attention_amx_bf16();
namespace {

using testing::TacticRun;

struct AttentionCase {
  ops::Case parsed;
  ir::Graph graph;
  explicit AttentionCase(const char* text)
      : parsed(ops::parse_case(op(), text)), graph(ops::case_graph(ir::Registry::builtin(), op(), parsed)) {}
  static const ir::OpDef& op() { return ir::Registry::builtin().get("FusedAttention"); }
  Verdict verdict(std::uint32_t features) const {
    const Tactic tactic = cpu_attention_amx_bf16();
    const TacticRun run(tactic, graph, features);
    return run.tactic.supports(run.problem);
  }
};

TEST(AttentionAmxBf16, RowsThatSeeNoKeyGiveZeros) {
  if (!(cpu::this_cpu().features & kAmxBf16)) GTEST_SKIP() << "this CPU has no AMX";
  constexpr int kRows = 35, kKeys = 300, kSize = 16;
  AttentionCase c("f32[1,1,35,16] f32[1,1,300,16] f32[1,1,300,16] f32[1,1,35,300] numerics={round_to=bf16} scale=0.25");
  std::vector<Tensor> operands;
  for (const ops::CaseOperand& o : c.parsed.operands) operands.push_back(o.data);
  for (int row = 0; row < kRows; ++row)   // row 3 sees nothing, others one key only, some of them in the second block
    for (int key = 0; key < kKeys; ++key)
      operands[3].mutable_data<float>()[row * kKeys + key] =
          row != 3 && key == row * 8 % kKeys ? 0 : -std::numeric_limits<float>::infinity();
  const Tactic tactic = cpu_attention_amx_bf16();
  const TacticRun run(tactic, c.graph, cpu::this_cpu().features);
  testing::Backwards backwards;
  const Tensor y = run.run(tactic.configs(run.problem)[0], operands, backwards)[0];
  for (int row = 0; row < kRows; ++row)
    for (int i = 0; i < kSize; ++i) {
      const float value = row == 3 ? 0 : operands[2].data<float>()[row * 8 % kKeys * kSize + i];
      ASSERT_NEAR(y.data<float>()[row * kSize + i], value, std::fabs(value) / 128) << "row " << row;
    }
}

TEST(AttentionAmxBf16, NeedsAmxAndForF32Permission) {
  const char* const wide = "f32[1,1,4,16] f32[1,1,4,16] f32[1,1,4,16]";
  const char* const narrow = "bf16[1,1,4,16] bf16[1,1,4,16] bf16[1,1,4,16]";
  constexpr std::uint32_t kAll = 63;
  EXPECT_FALSE(AttentionCase(wide).verdict(kAll).yes);
  EXPECT_TRUE(AttentionCase((std::string(wide) + " numerics={round_to=bf16}").c_str()).verdict(kAll).yes);
  EXPECT_TRUE(AttentionCase(narrow).verdict(kAll).yes);
  EXPECT_FALSE(AttentionCase(narrow).verdict(kAvx2 | kAvx512).yes);
  EXPECT_FALSE(AttentionCase((std::string(narrow) + " scale=-1.0").c_str()).verdict(kAll).yes);
}

}  // namespace
}  // namespace tenfold::backends
