// Control flow whose course is known: what of it is left, and that plans give what the interpreter gives of the graph as it was.
#include <gtest/gtest.h>

#include <algorithm>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/pass.h"
#include "tenfold/bindings.h"
#include "tenfold/inspect.h"

namespace tenfold::passes {
namespace {

ir::Graph parse(const std::string& text) { return ir::parse_graph(text, ir::Registry::builtin()); }

int steps_of(const Engine& engine, const std::string& kind) {
  const auto programs = engine.inspection().programs;
  return static_cast<int>(
      std::count_if(programs[0].steps.begin(), programs[0].steps.end(), [&](const PlanStep& s) { return s.kind == kind; }));
}

// How many loops, branches and reference kernels the plan has.
struct Left { int loops, branches, references; };
Left expect_same(const std::string& text, const std::vector<Tensor>& inputs) {
  SCOPED_TRACE(text);
  const std::vector<ops::RuntimeValue> values(inputs.begin(), inputs.end());
  const std::vector<ops::RuntimeValue> expected = ops::run_graph(parse(text), values);
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0, config.tf32 = false;
  const Engine engine = builder::build_graph(parse(text), config);
  const std::vector<RuntimeValue> found = run_values(*engine.create_context(), values);
  EXPECT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Tensor &got = found[i].tensor(), &want = expected[i].tensor();
    EXPECT_EQ(got.shape(), want.shape());
    for (std::int64_t e = 0; e < want.size() && got.size() == want.size(); ++e) EXPECT_NEAR(got.as_double(e), want.as_double(e), 1e-5);
  }
  return {steps_of(engine, "loop"), steps_of(engine, "branch"), steps_of(engine, "reference")};
}

Tensor random(Shape shape) { return ops::random_tensor(DType::f32, shape, 7); }

std::string loop(const std::string& count) {
  return "(x f32[2,3])\n  n = i64[]{" + count + R"(}
  y, all = Loop(n, _, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[2,3])
      f = Cast(i) to="f32"
      t = Add(s, f)
      r = Tanh(t)
      return go, r, t
  ]
  return y, all
)";
}

TEST(UnrollLoops, AFewIterationsAreWrittenOut) {
  const Left few = expect_same(loop("5"), {random({2, 3})});
  EXPECT_EQ(few.loops, 0);
  EXPECT_EQ(few.references, 0);
  EXPECT_EQ(expect_same(loop("200"), {random({2, 3})}).loops, 1);
  expect_same(loop("0"), {random({2, 3})});
  expect_same(loop("-1"), {random({2, 3})});
}

TEST(UnrollLoops, ALoopThatEndsEarlyStays) {
  const Left left = expect_same(R"((x f32[2])
  n = i64[]{4}
  most = f32[1]{3}
  y = Loop(n, _, x, most) carried=1 graphs=[
    (i i64[], go bool[], s f32[2], m f32[1])
      none = i64[0]{}
      t = Add(s, s)
      sum = ReduceSum(t)
      more = Less(sum, m)
      c = Reshape(more, none)
      return c, t
  ]
  return y
)", {random({2})});
  EXPECT_EQ(left.loops, 1);
}

// The carried value has another shape in each iteration.
TEST(UnrollLoops, AValueThatGrowsHasKernels) {
  const auto growing = [](const std::string& head) {
    return head + R"(
  y, sums = Loop(n, _, x, w) carried=1 graphs=[
    (i i64[], go bool[], s f32[k,8], v f32[8,8])
      p = MatMul(s, v)
      t = Concat(s, p) axis=0
      m = ReduceSum(p)
      return go, t, m
  ]
  return y, sums
)";
  };
  const Left known = expect_same(growing("(x f32[1,8], w f32[8,8])\n  n = i64[]{5}"), {random({1, 8}), random({8, 8})});
  EXPECT_EQ(known.loops, 0);
  EXPECT_EQ(known.references, 0);
  Tensor five(DType::i64, {});
  *five.mutable_data<std::int64_t>() = 5;
  const Left counted = expect_same(growing("(n i64[], x f32[1,8], w f32[8,8])"), {five, random({1, 8}), random({8, 8})});
  EXPECT_EQ(counted.loops, 1);
  EXPECT_EQ(counted.references, 0);
}

// The condition of the inner If is known once the loop around it is written out.
TEST(UnrollLoops, BranchesInLoops) {
  const Left left = expect_same(R"((x f32[2,3])
  n = i64[]{3}
  y = Loop(n, _, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[2,3])
      one = i64[]{1}
      first = Equal(i, one)
      t = If(first, s) graphs=[
        (a f32[2,3])
          r = Relu(a)
          return r
        (b f32[2,3])
          q = Tanh(b)
          return q
      ]
      return go, t
  ]
  return y
)", {random({2, 3})});
  EXPECT_EQ(left.loops, 0);
}

TEST(UnrollLoops, ScansAlongOtherAxes) {
  const Left left = expect_same(R"((h f32[2], x f32[2,3])
  last, all = Scan(h, x) num_states=1 num_scan_inputs=1 scan_input_axes=[-1] scan_output_axes=[-1] scan_output_directions=[1] graphs=[
    (s f32[2], v f32[2])
      t = Add(s, v)
      r = Tanh(t)
      return t, r
  ]
  return last, all
)", {random({2}), random({2, 3})});
  EXPECT_EQ(left.loops, 0);
}

}  // namespace
}  // namespace tenfold::passes
