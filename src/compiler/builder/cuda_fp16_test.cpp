// Plans for a GPU that is not there, of models that compute in 16 bits themselves.
#include <gtest/gtest.h>

#include "backends/cuda/device/compiler.h"
#include "builder/paper_gpu_for_tests.h"

namespace tenfold {
namespace {

using builder::testing::plan_of;

std::string steps_of(const plan::Plan& plan, const char* op) {
  std::string all;
  for (const plan::Step& s : plan.programs[0].steps)
    if (s.op == op) all += cat(all.empty() ? "" : " ", name(s.in[0].dtype));
  return all;
}

// Rules see f32 in them; each layer gets its own type back.
TEST(CudaFp16, AModelInFp16TakesTheFormsOfFloatsAndKeepsItsTypes) {
  for (const char* type : {"f16", "bf16"}) {
    std::string text = R"((x T[2,16,8,8], w T[16,16,3,3]!, s T[16]!, b T[16]!, m T[16]!, d T[16,64,64]!, v T[64,64]!)
      u = T[16]{1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2}
      k = i64[3]{2,16,64}
      c = Conv(x, w) pads=[1,1,1,1]
      n = BatchNormalization(c, s, b, m, u)
      r = Relu(n)
      f = Reshape(r, k)
      y = MatMul(f, v))";
    for (std::size_t at; (at = text.find(" T[")) != std::string::npos;) text.replace(at + 1, 1, type);
    const plan::Plan plan = plan_of(text.c_str(), {});
    EXPECT_EQ(steps_of(plan, "Conv"), type);
    EXPECT_EQ(steps_of(plan, "MatMul"), type);
    EXPECT_EQ(steps_of(plan, "BatchNormalization") + steps_of(plan, "Relu"), "") << "folded, and fused";
    for (const plan::Step& step : plan.programs[0].steps) EXPECT_NE(step.kind, plan::StepKind::host) << step.name;
  }
  constexpr const char* kMixed = R"((x f16[32,64], w f16[64,64]!, v f32[64,64]!)
    a = MatMul(x, w)
    c = Cast(a) to="f32"
    s = Softmax(c) axis=-1
    b = MatMul(s, v)
    y = Tanh(b))";
  BuildConfig config;
  EXPECT_EQ(steps_of(plan_of(kMixed, config), "MatMul"), "f16 f32");
  config.fp16 = true, config.check_overflow = false;
  EXPECT_EQ(steps_of(plan_of(kMixed, config), "MatMul"), "f16 f16");
}

}  // namespace
}  // namespace tenfold
