// Regions through region_blocks: reductions with wide and narrow results, broadcasts of every kind, both layouts.
#include <cmath>

#include "backends/backend.h"
#include "backends/tactic_for_tests.h"

namespace tenfold::backends {
namespace {

using testing::TacticRun;

const Tactic& region_blocks(const Backend& backend) {
  for (const Tactic& t : backend.tactics())
    if (t.name == "region_blocks") return t;
  throw Error(ErrorKind::internal, "no region_blocks");
}

struct Case {
  const char* body;
  std::vector<Shape> shapes;
};

// Every format against the reference, alone and with several workers.
void expect_agrees(const Case& c) {
  SCOPED_TRACE(c.body);
  const std::shared_ptr<Backend> backend = open_backend("cpu");
  ir::Graph graph(ir::Registry::builtin());
  ir::Node node;
  node.def = &graph.registry().get("Region");
  node.body = ir::parse_body(c.body);
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < c.shapes.size(); ++i) {
    node.inputs.push_back(graph.add_input(cat("x", i), ir::ValueType{.tensor = {node.body->inputs[i], ir::to_dims(c.shapes[i])}}));
    operands.push_back(ops::random_tensor(node.body->inputs[i], c.shapes[i], i + 3));
  }
  const int outputs = static_cast<int>(node.body->outputs.size());
  graph.add(std::move(node), outputs);
  const std::vector<ops::RuntimeValue> expected = ops::run_node(*graph.nodes().front(), testing::as_values(operands));
  TacticRun run(region_blocks(*backend), graph, backend->info().features);
  for (const Formats& formats : run.tactic.formats(run.problem)) {
    run.use(formats);
    const Verdict verdict = run.tactic.supports(run.problem);
    ASSERT_TRUE(verdict) << verdict.reason;
    Serial serial;
    testing::Backwards backwards;
    const Config config{256};  // small parts, so that there are several
    ASSERT_TRUE(run.tactic.valid(run.problem, config));
    const std::vector<Tensor> got = run.run(config, operands, serial), again = run.run(config, operands, backwards);
    for (int j = 0; j < outputs; ++j) {
      const Tensor &g = got[static_cast<std::size_t>(j)], &w = std::get<Tensor>(expected[static_cast<std::size_t>(j)]);
      ASSERT_EQ(g.shape(), w.shape());
      for (std::int64_t i = 0; i < w.size(); ++i)
        ASSERT_NEAR(g.as_double(i), w.as_double(i), 1e-5 * (1 + std::fabs(w.as_double(i)))) << "output " << j << " element " << i;
      EXPECT_EQ(std::memcmp(g.raw(), again[static_cast<std::size_t>(j)].raw(), static_cast<std::size_t>(g.bytes())), 0);
    }
  }
}

TEST(RegionBlocks, SoftmaxWithItsSum) {
  const char* body = "(f32) %1=reduce_max.f32(%0) %2=sub.f32(%0,%1) %3=exp.f32(%2) %4=reduce_sum.f32(%3) %5=div.f32(%3,%4) over=1 -> %5 %4";
  expect_agrees({body, {{3, 4, 50}}});
  expect_agrees({body, {{7, 2300}}});
  expect_agrees({body, {{5, 1}}});
}

TEST(RegionBlocks, NormalizationOverTwoDimsWithOperandsOfEveryExtent) {
  // ((x + row) - mean) * rsqrt(mean of squares + 1e-5) * scale, the row operand constant along the reduced dims
  const char* body =
      "(f32,f32,f32) %3=add.f32(%0,%1) %4=reduce_sum.f32(%3) %5=constant.f32(0.0033333333) %6=mul.f32(%4,%5) %7=sub.f32(%3,%6) "
      "%8=mul.f32(%7,%7) %9=reduce_sum.f32(%8) %10=mul.f32(%9,%5) %11=constant.f32(1e-05) %12=add.f32(%10,%11) %13=rsqrt.f32(%12) "
      "%14=mul.f32(%7,%13) %15=mul.f32(%14,%2) over=2 -> %15 %6";
  expect_agrees({body, {{6, 5, 15, 20}, {6, 5, 1, 1}, {15, 20}}});
}

TEST(RegionBlocks, BroadcastsInBothLayouts) {
  const char* body = "(f32,f32,f32,i32) %4=mul.f32(%0,%1) %5=add.f32(%4,%2) %6=cast.f32(%3) %7=mul.f32(%5,%6) %8=tanh.f32(%7) -> %8 %5";
  expect_agrees({body, {{2, 19, 11, 13}, {19, 1, 1}, {2, 19, 1, 1}, {2, 19, 11, 13}}});
  expect_agrees({body, {{2, 19, 11, 13}, {1, 13}, {11, 1}, {}}});
  expect_agrees({body, {{19, 1, 13}, {1, 17, 1}, {1}, {19, 17, 13}}});
}

TEST(RegionBlocks, RefusesWhatARowIsNot) {
  const std::shared_ptr<Backend> backend = open_backend("cpu");
  ir::Graph graph(ir::Registry::builtin());
  ir::Node node;
  node.def = &graph.registry().get("Region");
  node.body = ir::parse_body("(f32,f32) %2=add.f32(%0,%1) %3=reduce_sum.f32(%2) over=2 -> %3");
  for (const Shape& shape : {Shape{4, 5, 6}, Shape{5, 1}})
    node.inputs.push_back(graph.add_input(cat("x", node.inputs.size()), ir::ValueType{.tensor = {DType::f32, ir::to_dims(shape)}}));
  graph.add(std::move(node), 1);
  const TacticRun run(region_blocks(*backend), graph, backend->info().features);
  const Verdict verdict = run.tactic.supports(run.problem);
  EXPECT_FALSE(verdict);
  EXPECT_EQ(verdict.reason, "an operand is broadcast along some of the reduced dims only");
}

}  // namespace
}  // namespace tenfold::backends
