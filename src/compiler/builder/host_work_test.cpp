// What plans for GPUs say of the steps that need the host: in the text and in the JSON, with the reason. The GPU is not there.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "builder/paper_gpu_for_tests.h"
#include "plan/host_work.h"
#include "plan/inspect.h"

namespace tenfold {
namespace {

using Json = nlohmann::json;
using builder::testing::plan_of;

Json layer(const plan::Plan& plan, const std::string& name) {
  const Json root = Json::parse(plan::inspect_json(plan));
  for (const Json& one : root["Layers"])
    if (one["Name"] == name) return one;
  ADD_FAILURE() << "no layer " << name;
  return {};
}
void expect_in(const std::string& words, const plan::Plan& plan) {
  for (const int detail : {-1, 0, 1}) {
    const std::string text = plan::inspect_text(plan, detail);
    EXPECT_NE(text.find(words), std::string::npos) << "'" << words << "' is not in:\n" << text;
  }
}

TEST(HostWork, APlanThatStaysOnTheGpuSaysSo) {
  const plan::Plan plan = plan_of("(x f32[4,8], w f32[8,8]!)\n m = MatMul(x, w)\n y = Relu(m)", {});
  expect_in("  on the host: nothing\n", plan);
  EXPECT_EQ(Json::parse(plan::inspect_json(plan))["Summary"]["HostSteps"], 0);
  EXPECT_FALSE(layer(plan, plan.programs[0].steps[0].name).contains("Host"));
}

TEST(HostWork, OperatorsWithoutKernelsSayWhy) {
  const plan::Plan plan = plan_of("(x f32[4,8], c bool[4])\n r = Tanh(x)\n k = Compress(r, c) axis=0\n y = Tanh(k)", {});
  expect_in("  on the host: 1 of 3 steps\n    k  Compress  it computes it: the host needs the size of the result\n", plan);
  const Json host = layer(plan, "k")["Host"];
  EXPECT_EQ(host["Why"], "the host needs the size of the result");
  EXPECT_EQ(host["Waits"], "operands and results copied");
  EXPECT_FALSE(layer(plan, "r").contains("Host"));
  EXPECT_EQ(Json::parse(plan::inspect_json(plan))["Summary"]["HostSteps"], 1);
}

// As if there were none for these types.
TEST(HostWork, TypesThatNoKernelTakesAreNamed) {
  plan::Plan plan = plan_of("(x f32[4,8], w f32[8,8])\n y = MatMul(x, w)", {});
  plan.programs[0].steps[0].kind = plan::StepKind::host;
  const std::vector<plan::HostStep> steps = plan::host_steps(plan, plan.programs[0]);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].work.why, "no kernel for GPUs takes these operands (f32, f32)");
}

TEST(HostWork, TheHostDecidesOfBranchesWhoseStepsRunOnTheGpu) {
  const plan::Plan plan = plan_of(R"((c bool[], x f32[4,8])
    r = If(c, x) graphs=[
      (a f32[4,8])
        s = Softmax(a)
        return s
      (a f32[4,8])
        t = Tanh(a)
        return t
    ])", {});
  expect_in("  on the host: 1 of 3 steps\n    r  If  it decides: the GPU takes no branch by itself\n", plan);
  EXPECT_EQ(layer(plan, "r")["Host"]["Waits"], "condition copied, the host decides");
  EXPECT_FALSE(layer(plan, "s").contains("Host"));
}

// Carried values that grow: the body's steps run on the GPU, in buffers of its memory.
TEST(HostWork, TheHostStartsIterationsWhoseStepsRunOnTheGpu) {
  const plan::Plan plan = plan_of(R"((n i64[], x f32[1,8])
    y = Loop(n, _, x) carried=1 graphs=[
      (i i64[], go bool[], s f32[k,8])
        m = Tanh(s)
        t = Concat(s, m) axis=0
        return go, t
    ])", {});
  expect_in("y  Loop  it decides: the GPU repeats nothing by itself\n", plan);
  EXPECT_EQ(layer(plan, "y")["Host"]["Waits"], "condition copied after each iteration, the host decides");
  EXPECT_FALSE(layer(plan, "m").contains("Host"));
  EXPECT_FALSE(layer(plan, "t").contains("Host"));
}

TEST(HostWork, ControlFlowThatIsNoProgramSaysSo) {
  const plan::Plan plan = plan_of(R"((n i64[], x f32[4])
    y, all = Loop(n, _, x) carried=1 graphs=[
      (i i64[], go bool[], s f32[k])
        t = Concat(s, s) axis=0
        return go, t, s
    ])", {});
  const Json host = layer(plan, "y")["Host"];
  EXPECT_EQ(host["Does"], "computes it");
  EXPECT_NE(host["Why"].get<std::string>().find("sizes are known only behind it"), std::string::npos) << host;
}

TEST(HostWork, PlansForCpusSayNothingOfIt) {
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0;
  const Engine engine = builder::build_graph(builder::testing::parse("(x f32[4], c bool[4])\n y = Compress(x, c) axis=0"), config);
  EXPECT_EQ(engine.inspect().find("on the host"), std::string::npos);
  EXPECT_EQ(engine.inspect_json().find("\"Host"), std::string::npos);
}

}  // namespace
}  // namespace tenfold
