// Reductions: numpy's results, empty operands, axes known when building and not.
#include "ops/expect_case_for_tests.h"

namespace tenfold::ops {
namespace {

const ExpectedCase kCases[] = {
    {"ReduceSum", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[1])", R"(f32[2,1,2]{-1,8.5,-1.5,30})", 1e-06},
    {"ReduceSum", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{14,8.5,13.5})", 1e-06},
    {"ReduceSum", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", R"(f32[1,1,1]{36})", 1e-06},
    {"ReduceSum", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} noop_with_empty_axes=1)",
     R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", 1e-06},
    {"ReduceMean", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[1])", R"(f32[2,1,2]{-0.33333334,2.8333333,-0.5,10})", 1e-06},
    {"ReduceMean", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{3.5,2.125,3.375})", 1e-06},
    {"ReduceMean", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", R"(f32[1,1,1]{3})", 1e-06},
    {"ReduceMean", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} noop_with_empty_axes=1)",
     R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", 1e-06},
    {"ReduceMax", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[1])", R"(f32[2,1,2]{3,6,7,12})", 1e-06},
    {"ReduceMax", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{8,10,12})", 1e-06},
    {"ReduceMax", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", R"(f32[1,1,1]{12})", 1e-06},
    {"ReduceMax", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} noop_with_empty_axes=1)",
     R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", 1e-06},
    {"ReduceMin", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[1])", R"(f32[2,1,2]{-5,-2,-9,8})", 1e-06},
    {"ReduceMin", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{-2,-9,-5})", 1e-06},
    {"ReduceMin", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", R"(f32[1,1,1]{-9})", 1e-06},
    {"ReduceMin", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} noop_with_empty_axes=1)",
     R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", 1e-06},
    {"ReduceProd", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[1])", R"(f32[2,1,2]{-15,-54,-31.5,960})", 1e-06},
    {"ReduceProd", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{-112,-1215,-180})", 1e-06},
    {"ReduceProd", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", R"(f32[1,1,1]{-2.44944e+07})", 1e-06},
    {"ReduceProd", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} noop_with_empty_axes=1)",
     R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", 1e-06},
    {"ReduceL1", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[1])", R"(f32[2,1,2]{9,12.5,16.5,30})", 1e-06},
    {"ReduceL1", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{18,26.5,23.5})", 1e-06},
    {"ReduceL1", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", R"(f32[1,1,1]{68})", 1e-06},
    {"ReduceL1", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} noop_with_empty_axes=1)", R"(f32[2,3,2]{1,2,3,4.5,5,6,7,8,9,10,0.5,12})",
     1e-06},
    {"ReduceL2", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[1])", R"(f32[2,1,2]{5.91608,7.7620873,11.412712,17.549929})", 1e-06},
    {"ReduceL2", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{10.862781,14.5,14.326549})", 1e-06},
    {"ReduceL2", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", R"(f32[1,1,1]{23.097618})", 1e-06},
    {"ReduceL2", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} noop_with_empty_axes=1)", R"(f32[2,3,2]{1,2,3,4.5,5,6,7,8,9,10,0.5,12})",
     1e-06},
    {"ReduceSumSquare", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[1])", R"(f32[2,1,2]{35,60.25,130.25,308})", 1e-06},
    {"ReduceSumSquare", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{118,210.25,205.25})", 1e-06},
    {"ReduceSumSquare", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", R"(f32[1,1,1]{533.5})", 1e-06},
    {"ReduceSumSquare", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} noop_with_empty_axes=1)",
     R"(f32[2,3,2]{1,4,9,20.25,25,36,49,64,81,100,0.25,144})", 1e-06},
    {"ReduceLogSum", R"(f32[2,3,2]{1,2,3,4.5,5,6,7,8,9,10,0.5,12} axes=[1])", R"(f32[2,1,2]{2.1972246,2.5257287,2.8033605,3.4011974})",
     1e-06},
    {"ReduceLogSum", R"(f32[2,3,2]{1,2,3,4.5,5,6,7,8,9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{2.8903718,3.2771447,3.1570003})",
     1e-06},
    {"ReduceLogSum", R"(f32[2,3,2]{1,2,3,4.5,5,6,7,8,9,10,0.5,12})", R"(f32[1,1,1]{4.2195077})", 1e-06},
    {"ReduceLogSum", R"(f32[2,3,2]{1,2,3,4.5,5,6,7,8,9,10,0.5,12} noop_with_empty_axes=1)",
     R"(f32[2,3,2]{0,0.6931472,1.0986123,1.5040774,1.609438,1.7917595,1.9459101,2.0794415,2.1972246,2.3025851,-0.6931472,2.4849067})",
     1e-06},
    {"ReduceLogSumExp", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[1])",
     R"(f32[2,1,2]{3.1272235,6.2016873,7.0015025,12.142932})", 1e-06},
    {"ReduceLogSumExp", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} axes=[-1,0] keepdims=0)", R"(f32[3]{8.313961,10.004986,12.002486})",
     1e-06},
    {"ReduceLogSumExp", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", R"(f32[1,1,1]{12.151494})", 1e-06},
    {"ReduceLogSumExp", R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12} noop_with_empty_axes=1)",
     R"(f32[2,3,2]{1,-2,3,4.5,-5,6,7,8,-9,10,0.5,12})", 1e-06},
    {"ReduceSum", R"(i32[2,3]{3,-4,5,-6,7,8} axes=[1] keepdims=0)", R"(i32[2]{4,9})"},
    {"ReduceMax", R"(i32[2,3]{3,-4,5,-6,7,8} axes=[1] keepdims=0)", R"(i32[2]{5,8})"},
    {"ReduceMin", R"(i32[2,3]{3,-4,5,-6,7,8} axes=[1] keepdims=0)", R"(i32[2]{-4,-6})"},
    {"ReduceProd", R"(i32[2,3]{3,-4,5,-6,7,8} axes=[1] keepdims=0)", R"(i32[2]{-60,-336})"},
    {"ReduceL1", R"(i32[2,3]{3,-4,5,-6,7,8} axes=[1] keepdims=0)", R"(i32[2]{12,21})"},
    {"ReduceSumSquare", R"(i32[2,3]{3,-4,5,-6,7,8} axes=[1] keepdims=0)", R"(i32[2]{50,149})"},
    {"ReduceMean", R"(i32[2,3]{3,-4,5,-6,7,8} axes=[1])", R"(i32[2,1]{1,3})"},
    {"ReduceSum", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{0,0})"},
    {"ReduceProd", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{1,1})"},
    {"ReduceMax", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{-inf,-inf})"},
    {"ReduceMin", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{inf,inf})"},
    {"ReduceL1", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{0,0})"},
    {"ReduceL2", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{0,0})"},
    {"ReduceSumSquare", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{0,0})"},
    {"ReduceLogSum", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{-inf,-inf})"},
    {"ReduceLogSumExp", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{-inf,-inf})"},
    {"ReduceMean", R"(f32[2,0]{} axes=[1] keepdims=0)", R"(f32[2]{nan,nan})"},
    {"ReduceMax", R"(i8[2,0]{} axes=[1] keepdims=0)", R"(i8[2]{-128,-128})"},
    {"ReduceMin", R"(u16[2,0]{} axes=[1] keepdims=0)", R"(u16[2]{65535,65535})"},
    {"ReduceLogSumExp", R"(f32[2]{inf,nan})", R"(f32[1]{nan})"},
    {"ReduceLogSumExp", R"(f32[2]{inf,1})", R"(f32[1]{inf})"},
    {"ReduceLogSumExp", R"(f32[2]{1000,1000})", R"(f32[1]{1000.6932})", 1e-06},
    {"ReduceMax", R"(bool[3,2]{1,0,1,1,0,0} axes=[1] keepdims=0)", R"(bool[3]{1,1,0})"},
    {"ReduceMin", R"(bool[3,2]{1,0,1,1,0,0} axes=[1] keepdims=0)", R"(bool[3]{0,1,0})"},
    {"ReduceSum", R"(u8[3]{200,100,3})", R"(u8[1]{47})"},
    {"ReduceMax", R"(f32[3]{1,nan,3})", R"(f32[1]{nan})"},
    {"ReduceMax", R"(u64[2]{1,9223372036854775811})", R"(u64[1]{9223372036854775811})"},
    {"ReduceSum", R"(f16[4]{2.048e+03,1,1,1})", R"(f16[1]{2.052e+03})"},
    {"ArgMax", R"(f32[2,4]{3,1,3,2,0,5,5,-1} axis=1)", R"(i64[2,1]{0,1})"},
    {"ArgMax", R"(f32[2,4]{3,1,3,2,0,5,5,-1} axis=-1 keepdims=0 select_last_index=1)", R"(i64[2]{2,2})"},
    {"ArgMin", R"(f32[2,4]{3,1,3,2,0,5,5,-1} axis=0)", R"(i64[1,4]{1,0,0,1})"},
    {"ArgMin", R"(i32[4]{2,-1,5,-1} select_last_index=1)", R"(i64[1]{3})"},
    {"ArgMax", R"(f32[3]{1,nan,9})", R"(i64[1]{1})"},
    {"CumSum", R"(f32[2,3]{1,2,3,4,5,6} axis=1)", R"(f32[2,3]{1,3,6,4,9,15})"},
    {"CumSum", R"(f32[2,3]{1,2,3,4,5,6} axis=-2)", R"(f32[2,3]{1,2,3,5,7,9})"},
    {"CumSum", R"(f32[2,3]{1,2,3,4,5,6} axis=1 exclusive=1)", R"(f32[2,3]{0,1,3,0,4,9})"},
    {"CumSum", R"(f32[2,3]{1,2,3,4,5,6} axis=1 reverse=1)", R"(f32[2,3]{6,5,3,15,11,6})"},
    {"CumSum", R"(f32[2,3]{1,2,3,4,5,6} axis=1 reverse=1 exclusive=1)", R"(f32[2,3]{5,3,0,11,6,0})"},
    {"CumSum", R"(u8[3]{200,100,1})", R"(u8[3]{200,44,45})"},
};

TEST(Reduce, SameResultsAsElsewhere) {
  for (const ExpectedCase& e : kCases) expect_case(e);
}

TEST(Reduce, CasesRun) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
                         "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin", "CumSum"})
    expect_cases_run(op);
}

TEST(Reduce, TypesStaySymbolic) {
  EXPECT_EQ(type_of("(x f32[b,s,c])\n y = ReduceMean(x) axes=[-1]"), "f32[b,s,1]");
  EXPECT_EQ(type_of("(x f32[b,s,c])\n y = ReduceMean(x) axes=[-2,2] keepdims=0"), "f32[b]");
  EXPECT_EQ(type_of("(x f32[b,s,c])\n y = ReduceMean(x) keepdims=0"), "f32[]");
  EXPECT_EQ(type_of("(x f32[b,s,c])\n y = ArgMax(x) axis=-1 keepdims=0"), "i64[b,s]");
  expect_refused("(x f32[b,s])\n y = ReduceSum(x) axes=[2]");
  expect_refused("(x f32[b,s])\n y = ArgMax(x) axis=-3");
  expect_refused("(x f32[b,0])\n y = ArgMax(x) axis=1");
  expect_refused("(x f32[b,s])\n y = CumSum(x) axis=2");
  expect_refused("(x f32[b,s], axes f8e8m0[1])\n y = ReduceSum(x, axes)");
}

// Which dims go is known only at run time: the result's extents are symbols, bounded by what they can be.
TEST(Reduce, AxesFromTheData) {
  const ir::Graph graph = ir::parse_graph("(x f32[2,3], axes i64[1])\n y = ReduceSum(x, axes) keepdims=0", ir::Registry::builtin());
  ASSERT_EQ(graph.outputs[0]->dims().size(), 1u);
  EXPECT_EQ(graph.outputs[0]->dims()[0].bounds(graph.box()), (ir::Interval{0, 3}));
  const Tensor x = parse_results("f32[2,3]{1,2,3,4,5,6}")[0];
  for (const auto& [axes, sums] : {std::pair{"i64[1]{0}", "f32[3]{5,7,9}"}, std::pair{"i64[1]{-1}", "f32[2]{6,15}"}}) {
    const std::vector<RuntimeValue> results = run_graph(graph, {x, parse_results(axes)[0]});
    expect_same(std::get<Tensor>(results[0]), parse_results(sums)[0], axes);
  }
  EXPECT_THROW(run_graph(graph, {x, parse_results("i64[1]{2}")[0]}), Error);
}

}  // namespace
}  // namespace tenfold::ops
