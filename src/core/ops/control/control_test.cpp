// Control flow: branches, trip counts, early ends, growing values, slices, and the types inferred for them.
#include "ops/expect_case_for_tests.h"

namespace tenfold::ops {
namespace {

ir::Graph parse(const std::string& text) { return ir::parse_graph(text, ir::Registry::builtin()); }

Tensor literal(const char* text) {
  ir::Scanner in(text);
  return ir::parse_literal(in);
}

void expect_run(const std::string& text, const std::vector<const char*>& inputs, const char* results) {
  SCOPED_TRACE(text);
  std::vector<RuntimeValue> operands;
  for (const char* input : inputs) operands.emplace_back(literal(input));
  const std::vector<RuntimeValue> found = run_graph(parse(text), operands);
  const std::vector<Tensor> expected = parse_results(results);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) expect_same(std::get<Tensor>(found[i]), expected[i], "result " + std::to_string(i));
}

const std::string kIf = R"((c bool[], x f32[n])
  y = If(c, x) graphs=[
    (a f32[n])
      r = Add(a, a)
      return r
    (b f32[n])
      r = Concat(b, b) axis=0
      return r
  ]
  return y
)";

TEST(Control, IfRunsOneBranch) {
  expect_run(kIf, {"bool[]{1}", "f32[2]{1,2}"}, "f32[2]{2,4}");
  expect_run(kIf, {"bool[]{0}", "f32[2]{1,2}"}, "f32[4]{1,2,1,2}");
}

TEST(Control, IfJoinsTypes) {
  const ir::Graph graph = parse(kIf);
  const ir::Value& y = *graph.outputs[0];
  ASSERT_EQ(y.rank(), 1);
  EXPECT_TRUE(y.dims()[0].is_symbol()) << y.dims()[0].text();   // n on one path, 2n on the other
  const auto symbol =
      std::find_if(graph.symbols.begin(), graph.symbols.end(), [&](const ir::Symbol& s) { return s.name == y.dims()[0].text(); });
  ASSERT_NE(symbol, graph.symbols.end());
  EXPECT_EQ(symbol->upper.evaluate({{"n", 5}}), 10);
  EXPECT_EQ(symbol->lower.evaluate({{"n", 5}}), 5);
}

// The first branch could only run if w had 7 elements.
const std::string kOnlyElse = R"((c bool[], x f32[n], w f32[3,2])
  y = If(c, x, w) graphs=[
    (a f32[n], u f32[p,q])
      k = i64[1]{7}
      r = Reshape(u, k)
      return r
    (b f32[n], v f32[3,2])
      r = Add(b, b)
      return r
  ]
  return y
)";

TEST(Control, ABranchThatContradictsTheShapesFailsWhenItIsTaken) {
  EXPECT_EQ(ir::text(parse(kOnlyElse).outputs[0]->type), "f32[n]");
  expect_run(kOnlyElse, {"bool[]{0}", "f32[2]{1,2}", "f32[3,2]{0,0,0,0,0,0}"}, "f32[2]{2,4}");
  try {
    expect_run(kOnlyElse, {"bool[]{1}", "f32[2]{1,2}", "f32[3,2]{0,0,0,0,0,0}"}, "f32[2]{2,4}");
    ADD_FAILURE() << "a branch ran that cannot";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cannot run with the shapes that the model was built for: "), std::string::npos) << e.what();
  }
}

TEST(Control, ABranchWithAFaultIsRefused) {
  const auto with = [](const char* then) {
    return R"((c bool[], x f32[n])
  y = If(c, x) graphs=[
    (a f32[n])
      i = i64[1]{7}
      r = )" + std::string(then) + R"(
      return r
    (b f32[n])
      r = Add(b, b)
      return r
  ]
  return y
)";
  };
  const auto refuse = [](const std::string& text, const char* why) {
    try {
      parse(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  };
  refuse(with("Add(a, i)"), "i64");                        // element types
  refuse(with("Softmax(a) axis=\"last\""), "attribute");   // an attribute's type
  refuse(with("Gather(a)"), "operands");                   // one is missing
  refuse(with("Frobnicate(a)"), "Frobnicate");
  refuse(R"((c bool[], x f32[2])
  y = If(c, x) graphs=[
    (a f32[p])
      k = i64[1]{7}
      r = Reshape(a, k)
      return r
    (b f32[q])
      k = i64[1]{5}
      r = Reshape(b, k)
      return r
  ]
  return y
)", "cannot reshape");                                     // neither branch can run
}

// Sums i * x for i = 0, 1, 2 ... and collects the partial sums; ends when the sum's first element reaches 10.
const std::string kLoop = R"((m i64[], x f32[2])
  zero = f32[2]{0,0}
  sum, all = Loop(m, _, zero, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[2], a f32[2])
      ten = f32[1]{10}
      b = i64[1]{0}
      e = i64[1]{1}
      none = i64[0]{}
      f = Cast(i) to="f32"
      p = Mul(f, a)
      t = Add(s, p)
      first = Slice(t, b, e)
      less = Less(first, ten)
      cond = Reshape(less, none)
      return cond, t, t
  ]
  return sum, all
)";

TEST(Control, LoopCarriesAndCollects) {
  expect_run(kLoop, {"i64[]{3}", "f32[2]{1,2}"}, "f32[2]{3,6} f32[3,2]{0,0,1,2,3,6}");
  expect_run(kLoop, {"i64[]{9}", "f32[2]{4,1}"}, "f32[2]{12,3} f32[3,2]{0,0,4,1,12,3}");
  expect_run(kLoop, {"i64[]{0}", "f32[2]{4,1}"}, "f32[2]{0,0} f32[0,2]{}");
}

const std::string kDynamic = R"((x f32[2])
  trips = i64[]{3}
  y = Loop(trips, _, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[2])
      t = Concat(s, s) axis=0
      return go, t
  ]
  return y
)";

TEST(Control, LoopWidensWhatGrows) {
  const ir::Graph graph = parse(kDynamic);
  EXPECT_TRUE(graph.outputs[0]->dims()[0].is_symbol());
  expect_run(kDynamic, {"f32[2]{1,2}"}, "f32[16]{1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2}");
}

TEST(Control, LoopKnowsItsTripCount) {
  const ir::Graph graph = parse(R"((x f32[n])
  trips = i64[]{5}
  y, all = Loop(trips, _, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[n])
      t = Add(s, s)
      return go, t, t
  ]
  return all
)");
  EXPECT_EQ(ir::text(graph.outputs[0]->type), "f32[5,n]");
}

const std::string kScan = R"((s f32[], x f32[2,3])
  last, sums = Scan(s, x) num_states=1 num_scan_inputs=1 scan_input_axes=[1] scan_input_directions=[1] scan_output_axes=[-1] graphs=[
    (a f32[], b f32[2])
      t = ReduceSum(b) keepdims=0
      n = Add(a, t)
      c = Add(b, n)
      return n, c
  ]
  return last, sums
)";

TEST(Control, ScanWalksAnAxisBackwards) {
  EXPECT_EQ(ir::text(parse(kScan).outputs[1]->type), "f32[2,3]");
  expect_run(kScan, {"f32[]{10}", "f32[2,3]{1,2,3,4,5,6}"}, "f32[]{31} f32[2,3]{22,28,32,25,31,35}");
}

TEST(Control, RefusesBodiesThatDoNotFit) {
  expect_refused(R"((c bool[], x f32[2])
  y = If(c, x) graphs=[
    (a f32[2])
      r = Add(a, a)
      return r
    (b f32[2])
      r = Cast(b) to="i64"
      return r
  ]
  return y
)");
  expect_refused(R"((x f32[2])
  y = Loop(_, _, x) carried=3 graphs=[
    (i i64[], go bool[], s f32[2])
      t = Add(s, s)
      return go, t
  ]
  return y
)");
}

}  // namespace
}  // namespace tenfold::ops
