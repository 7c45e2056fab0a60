// region_rows: which bodies it refuses, with the reason. Its own cases are swept with all others.
#include "backends/tactic_for_tests.h"
#include "base/check.h"
#include "ir/text.h"

namespace tenfold::backends {

std::vector<Tactic> cuda_tactics();

namespace {

TEST(RegionRows, TakesRowsAndSaysWhatItRefuses) {
  const std::vector<Tactic> all = cuda_tactics();
  const auto rows = std::find_if(all.begin(), all.end(), [](const Tactic& t) { return t.name == "region_rows"; });
  ASSERT_NE(rows, all.end());
  DeviceInfo device;
  device.kind = "cuda", device.arch = 90, device.ordinal = -90;
  const auto reason = [&](const std::string& text) {
    const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin());
    testing::TacticRun run(*rows, graph, 0);
    run.problem.device = &device;
    return rows->supports(run.problem).reason;
  };
  ASSERT_FALSE(rows->cases.empty());
  for (const char* text : rows->cases) EXPECT_EQ(reason(text), "") << text;
  EXPECT_EQ(reason("(x f32[4,8])\n y = Region(x) body={(f32) %1=neg.f32(%0) -> %1}"), "nothing is reduced");
  EXPECT_EQ(reason("(x f64[4,8])\n y = Region(x) body={(f64) %1=reduce_sum.f64(%0) %2=sub.f64(%0,%1) over=1 -> %2}"), "a reduction of f64");
  EXPECT_EQ(reason("(x f32[4,1])\n y = Region(x) body={(f32) %1=reduce_sum.f32(%0) over=1 -> %1}"), "rows have one element");
  EXPECT_EQ(reason("(x f32[4,9], s f32[4,1])\n y = Region(x, s) body={(f32,f32) %2=reduce_sum.f32(%1) %3=add.f32(%0,%2) over=1 -> %3}"),
            "what is reduced is one number for each row");
}

}  // namespace
}  // namespace tenfold::backends
