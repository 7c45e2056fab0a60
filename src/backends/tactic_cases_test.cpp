// Cases of tactics: each is a problem that the tactic which asks for it computes, on some device. And families: a tactic for each operator.
#include "backends/tactic_cases_for_tests.h"

#include "backends/tactic_for_tests.h"

namespace tenfold::backends {
namespace {

std::vector<DeviceInfo> cpus() {
  DeviceInfo every;
  every.kind = "cpu", every.features = ~0u;
  return {every};
}

std::vector<DeviceInfo> gpus() {
  std::vector<DeviceInfo> all;
  for (int arch : {75, 80, 86, 89, 90, 100, 120}) {
    DeviceInfo& info = all.emplace_back();
    info.kind = "cuda", info.arch = arch, info.ordinal = -arch;
  }
  return all;
}

// Why no device of these runs the tactic on the case, in the words of the last refusal; empty if one does.
std::string refusal(const Tactic& tactic, const char* text, const std::vector<DeviceInfo>& devices) {
  const testing::TacticCase c = testing::tactic_case(text);
  if (!tactic.computes(*c.op)) return "it computes no " + c.op->name;
  const ir::Graph graph = testing::graph_of(c);
  if (graph.nodes().size() != 1) return "it is more than one node";
  std::string reason;
  for (const DeviceInfo& device : devices) {
    testing::TacticRun run(tactic, graph, device.features);
    run.problem.device = &device;
    const Formats plain{std::vector<Layout>(run.problem.in.size()), std::vector<Layout>(run.problem.out.size())};
    for (const Formats& formats : tactic.formats ? tactic.formats(run.problem) : std::vector<Formats>{plain}) {
      run.use(formats);
      const Verdict verdict = tactic.supports(run.problem);
      if (verdict) return "";
      reason = verdict.reason;
    }
  }
  return reason;
}

void expect_supported(const std::vector<Tactic>& tactics, const std::vector<DeviceInfo>& devices) {
  int cases = 0;
  for (const Tactic& tactic : tactics)
    for (const char* text : tactic.cases) {
      EXPECT_EQ(refusal(tactic, text, devices), "") << tactic.name << " asks to be tested with " << text;
      ++cases;
    }
  EXPECT_GT(cases, 50);
}

TEST(TacticCases, AreProblemsOfTheTacticThatAsks) {
  expect_supported(cpu_tactics(), cpus());
  expect_supported(cuda_tactics(), gpus());
}

TEST(TacticCases, WhatATacticRefusesIsToldWithItsReason) {
  for (const Tactic& t : cuda_tactics()) {
    if (t.name != "softmax_rows") continue;
    EXPECT_EQ(refusal(t, "Softmax f32[3,70,203] axis=1", gpus()), "the axis is not the innermost one");
    EXPECT_EQ(refusal(t, "Relu f32[3]", gpus()), "it computes no Relu");
    return;
  }
  ADD_FAILURE() << "there is no softmax_rows";
}

TEST(Families, StandOnceForEachOperatorByName) {
  const Tactic family{.name = "z_rows",
                      .version = 3,
                      .ops = {"Softmax", {"LogSoftmax", "log_rows"}},
                      .cases = {"Softmax f32[3]", "LogSoftmax f32[4]", "LogSoftmax f32[5]"}};
  const Tactic other{.name = "m_any", .ops = {"*pointwise"}, .cases = {"(x f32[3])\n y = Relu(x)"}};
  const std::vector<Tactic> all = by_operator({family, other});
  ASSERT_EQ(all.size(), 3u);
  const char* names[] = {"log_rows", "m_any", "z_rows"};
  const std::size_t cases[] = {2, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].name, names[i]);
    ASSERT_EQ(all[i].ops.size(), 1u);
    EXPECT_EQ(all[i].cases.size(), cases[i]) << names[i];
    EXPECT_EQ(all[i].version, all[i].name == "m_any" ? 1 : 3);
  }
  const ir::Registry& ops = ir::Registry::builtin();
  EXPECT_TRUE(all[0].computes(ops.get("LogSoftmax")));
  EXPECT_FALSE(all[0].computes(ops.get("Softmax")));
  EXPECT_TRUE(family.computes(ops.get("Softmax")) && family.computes(ops.get("LogSoftmax")));
  EXPECT_TRUE(all[1].computes(ops.get("Relu")) && all[1].computes(ops.get("Region")));
  EXPECT_FALSE(all[1].computes(ops.get("Softmax")));
}

}  // namespace
}  // namespace tenfold::backends
