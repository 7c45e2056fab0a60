// Blocked channels: what passes them on or changes them computes as in plain order, whatever lies in the lanes that pad a block.
#include "backends/tactic_check.h"
#include "ir/text.h"

namespace tenfold::backends {
namespace {

using testing::TacticRun;

const Tactic& named(const Backend& backend, std::string_view name) {
  for (const Tactic& t : backend.tactics())
    if (t.name == name) return t;
  throw std::logic_error("there is no such tactic");
}
bool blocks(const Formats& f) { return f.in[0].order == Layout::channels_blocked || f.out[0].order == Layout::channels_blocked; }

// A graph of one node; every combination of layouts that the tactic offers. Gives how many of them had blocks.
int check(const char* tactic, const std::string& text) {
  SCOPED_TRACE(text);
  const std::shared_ptr<Backend> backend = open_backend("cpu");
  const ir::Graph graph = ir::parse_graph(text, ir::Registry::builtin());
  std::vector<Tensor> operands;
  for (const ir::Value* v : graph.nodes().front()->inputs)
    operands.push_back(ops::random_tensor(v->dtype(), ir::constants(v->dims()), operands.size() + 5));
  const Tensor want = std::get<Tensor>(ops::run_node(*graph.nodes().front(), testing::as_values(operands))[0]);
  int found = 0;
  for (const std::uint32_t features : {std::uint32_t{kAvx2}, kAvx2 | kAvx512}) {
    if ((backend->info().features & features) != features) continue;
    TacticRun run(named(*backend, tactic), graph, features);
    const Problem plain = run.problem;
    for (const Formats& formats : run.tactic.formats(plain)) {
      run.problem = plain;
      run.use(formats);
      const Verdict verdict = run.tactic.supports(run.problem);
      EXPECT_TRUE(verdict) << run.problem.line() << ": " << verdict.reason;
      found += blocks(formats);
      testing::Backwards backwards;
      const Tensor got = run.run(run.tactic.configs(run.problem).at(0), operands, backwards)[0];
      EXPECT_EQ(got.shape(), want.shape());
      for (std::int64_t i = 0; i < want.size(); ++i)
        if (std::abs(got.as_double(i) - want.as_double(i)) > 1e-5) return ADD_FAILURE() << run.problem.line() << ", element " << i, found;
    }
  }
  return found;
}

TEST(BlockedChannels, AreChangedToAndFromEveryLayout) {
  for (const char* shape : {"f32[2,19,5,7]", "f32[1,32,3,4]", "u8[2,5,3,3]", "f64[3,40,2,3,2]", "f32[2,16,9]", "f32[2,0,3,3]"})
    EXPECT_GE(check("reformat_blocks", std::string("(x ") + shape + ")\n y = Reformat(x)"), 5);
}

TEST(BlockedChannels, PassThroughPools) {
  for (const char* op : {"MaxPool(x)", "AveragePool(x)"})
    for (const char* shape : {"f32[2,19,8,7]", "f32[1,32,9,9]"})
      EXPECT_GE(check(op[0] == 'M' ? "max_pool_windows" : "average_pool_windows",
                      std::string("(x ") + shape + ")\n y = " + op + " kernel_shape=[3,3] pads=[1,1,1,1] strides=[2,2]"),
                1);
  EXPECT_GE(check("max_pool_windows", "(x f32[2,21,4,5,6])\n y = MaxPool(x) kernel_shape=[2,2,2]"), 1);
}

TEST(BlockedChannels, PassThroughRegions) {
  const std::string residual = " y = Region(x, z, s) body={(f32,f32,f32) %3=add.f32(%0,%1) %4=mul.f32(%3,%2) %5=tanh.f32(%4) -> %5}";
  EXPECT_GE(check("region_blocks", "(x f32[2,19,5,7], z f32[2,19,5,7], s f32[1])\n" + residual), 1);
  EXPECT_GE(check("region_blocks", "(x f32[3,32,4,4], z f32[3,32,4,4], s f32[1,1,1,1])\n" + residual), 1);
  EXPECT_EQ(check("region_blocks", "(x f32[2,19,5,7], z f32[19,1,1], s f32[])\n" + residual), 0) << "a value for each channel";
}

}  // namespace
}  // namespace tenfold::backends
