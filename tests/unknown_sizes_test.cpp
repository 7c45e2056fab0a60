// Sizes and trip counts that only the run knows: growing buffers and outputs, loops as programs, and the same context again.
#include <gtest/gtest.h>

#include "as_interpreted.h"
#include "tenfold/bindings.h"
#include "tenfold/inspect.h"

namespace tenfold {
namespace {

TEST(UnknownSizes, CountsThatGrowFromRunToRun) {
  expect_as_interpreted("(x f32[6])\n  y = NonZero(x)", sets({{"f32[6]{0,0,3,0,0,0}"}, {"f32[6]{1,1,3,1,0,1}"}, {"f32[6]{0,0,0,0,0,0}"}}));
}

TEST(UnknownSizes, RangesGrowAndShrink) {
  expect_as_interpreted(R"((n i64[])
    zero = i64[]{0}
    one = i64[]{1}
    r = Range(zero, n, one)
    f = Cast(r) to="f32"
    s = Mul(f, f)
    t = ReduceSum(s) keepdims=0
    return s, t)",
        sets({{"i64[]{3}"}, {"i64[]{2000}"}, {"i64[]{0}"}, {"i64[]{5}"}}));
}

// Either branch is taken after the other; what follows reads the size that the run found.
TEST(UnknownSizes, BranchesOfDifferentSizes) {
  const std::string branches = R"(
    r = If(c, x) graphs=[
      (a f32[2,3])
        r = Add(a, a)
        return r
      (b f32[2,3])
        r = Concat(b, b) axis=0
        return r
    ])";
  const std::vector<std::string> x{"f32[2,3]{1,2,3,4,5,6}", "f32[2,3]{-1,0,1,2,-3,4}"};
  const auto runs = sets({{"bool[]{0}", x[0]}, {"bool[]{1}", x[1]}, {"bool[]{1}", x[0]}, {"bool[]{0}", x[1]}});
  expect_as_interpreted("(c bool[], x f32[2,3])" + branches + "\n    return r", runs);
  expect_as_interpreted("(c bool[], x f32[2,3])" + branches + "\n    y = Sigmoid(r)\n    s = Shape(r)\n    return y, s", runs);
}

TEST(UnknownSizes, ShapesFromInputsFeedKernels) {
  expect_as_interpreted(R"((x f32[1,2,4,4], sizes i64[4], w f32[3,2,3,3]!)
    r = Resize(x, _, _, sizes) mode="linear"
    c = Conv(r, w) pads=[1,1,1,1]
    d = Relu(c)
    y = Transpose(d) perm=[0,2,3,1])",
        sets({{"f32[1,2,4,4]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}", "i64[4]{1,2,6,5}"},
              {"f32[1,2,4,4]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}", "i64[4]{1,2,9,11}"}}));
}

struct Given {
  std::vector<float> memory;
  std::int64_t bytes = -1;
};
void* give(void* user, int, std::int64_t bytes) {
  auto& given = *static_cast<Given*>(user);
  given.bytes = bytes, given.memory.resize(static_cast<std::size_t>(bytes) / sizeof(float) + 1);
  return given.memory.data();
}

// Only what counts runs on a reference kernel; what follows has kernels, and the output is as large as was found.
TEST(UnknownSizes, StepsBehindACountHaveKernels) {
  const std::string product = "\n    m = MatMul(k, w)\n    r = Tanh(m)\n    y = Softmax(r) axis=-1";
  const std::string x = "f32[4,3]{1,2,3,-1,-2,-3,4,5,6,0.5,1,0}";
  const auto behind = [&](const std::string& head, const std::string& other, std::int64_t rows) {
    const std::string text = head + product;
    expect_as_interpreted(text, sets({{x, other}}));
    const Engine engine = builder::build_graph(parse(text), plain());
    int references = 0;
    const PlanInspection plan = engine.inspection();
    for (const PlanStep& step : plan.programs[0].steps) references += step.kind == "reference";
    EXPECT_LE(references, 1) << engine.inspect();
    const auto context = engine.create_context();
    Tensor data = literal(x), second = literal(other);
    Given given;
    ASSERT_TRUE(static_cast<bool>(context->bind(0, data.mutable_raw(), data.bytes())));
    ASSERT_TRUE(static_cast<bool>(context->bind(1, second.mutable_raw(), second.bytes())));
    ASSERT_TRUE(static_cast<bool>(set_allocator(*context, 2, give, &given)));
    ASSERT_TRUE(static_cast<bool>(context->run()));
    EXPECT_EQ(given.bytes, rows * 5 * 4);
    EXPECT_EQ(context->shape(2), (Shape{rows, 5}));
  };
  behind("(x f32[4,3], c bool[4], w f32[3,5]!)\n    k = Compress(x, c) axis=0", "bool[4]{1,0,1,1}", 3);
  behind("(x f32[4,3], i i64[6], w f32[3,5]!)\n    u = Unique(i)\n    k = Gather(x, u) axis=0", "i64[6]{3,0,3,3,0,3}", 2);
  behind("(x f32[4,3], c f32[4], w f32[3,5]!)\n    flat = i64[1]{-1}\n    n = NonZero(c)\n    i = Reshape(n, flat)\n"
         "    k = Gather(x, i) axis=0",
         "f32[4]{0,2,0,0}", 1);
}

void expect_reported(const Engine& engine) {
  EXPECT_TRUE(engine.info().allocates_in_run);
  const auto context = engine.create_context();
  std::int64_t n = 4, room[4] = {};
  ASSERT_TRUE(static_cast<bool>(context->bind(0, &n, sizeof n)));
  ASSERT_TRUE(static_cast<bool>(context->bind(1, room, sizeof room)));
  EXPECT_EQ(context->shape(1), Shape{-1});
  ASSERT_TRUE(static_cast<bool>(context->run()));
  EXPECT_EQ(context->shape(1), Shape{4});
  EXPECT_EQ(room[3], 3);
  n = 5;   // the caller's memory does not grow
  EXPECT_EQ(context->run(), (Status{Status::invalid_binding, 1}));
  context->own_memory(1);
  ASSERT_TRUE(static_cast<bool>(context->bind(1, nullptr, 0)));
  n = 100000;
  ASSERT_TRUE(static_cast<bool>(context->run()));
  EXPECT_EQ(static_cast<const std::int64_t*>(context->own_memory(1))[99999], 99999);
}

TEST(UnknownSizes, AreReportedWhenTheRunHasFoundThem) {
  const ir::Graph graph = parse(R"((n i64[])
    zero = i64[]{0}
    one = i64[]{1}
    y = Range(zero, n, one))");
  expect_reported(builder::build_graph(graph, plain()));
  expect_reported(on_far_device(graph, plain()));
}

const char* const kRecurrent = R"((h f32[1,8], x f32[n,1,8], w f32[8,8]!)
  last, all = Scan(h, x, w) num_states=1 num_scan_inputs=1 graphs=[
    (s f32[1,8], a f32[1,8], v f32[8,8])
      p = MatMul(s, v)
      q = Add(p, a)
      t = Tanh(q)
      return t, t
  ]
  return last, all
)";

TEST(Loops, ScansAreProgramsThatAllocateNothing) {
  const std::vector<OptimizationProfile> profile{{{"x", {{1, 1, 8}, {5, 1, 8}, {9, 1, 8}}}}};
  const Engine engine = builder::build_graph(parse(kRecurrent), plain(profile));
  EXPECT_FALSE(engine.info().allocates_in_run) << engine.inspect();
  for (const std::int64_t length : {1, 2, 7, 8})
    expect_as_interpreted(kRecurrent, {{ops::random_tensor(DType::f32, {1, 8}, 1), ops::random_tensor(DType::f32, {length, 1, 8}, 2)}},
                          plain(profile));
}

TEST(Loops, ScanBackwardsAlongOtherAxes) {
  expect_as_interpreted(R"((s f32[], x f32[3,2])
  last, sums = Scan(s, x) num_states=1 num_scan_inputs=1 scan_input_directions=[1] scan_output_directions=[1] graphs=[
    (a f32[], b f32[2])
      t = ReduceSum(b) keepdims=0
      n = Add(a, t)
      c = Add(b, n)
      return n, c
  ]
  return last, sums
)", sets({{"f32[]{10}", "f32[3,2]{1,2,3,4,5,6}"}}));
}

// Ends by its condition; trip counts odd, even and none; a carried value that the body hands on unchanged, two that change places.
const char* const kLoop = R"((m i64[], x f32[2], z f32[2])
  zero = f32[2]{0,0}
  sum, p, q, all = Loop(m, _, zero, x, z, x) carried=3 graphs=[
    (i i64[], go bool[], s f32[2], u f32[2], v f32[2], a f32[2])
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
      return cond, t, v, u, t
  ]
  return sum, p, q, all
)";

TEST(Loops, CarryCollectAndEndEarly) {
  const std::string x = "f32[2]{1,2}", steep = "f32[2]{4,1}", z = "f32[2]{7,8}";
  expect_as_interpreted(kLoop, sets({{"i64[]{3}", x, z},
                                     {"i64[]{4}", x, z},
                                     {"i64[]{9}", steep, z},
                                     {"i64[]{0}", x, z},
                                     {"i64[]{-2}", x, z},
                                     {"i64[]{50}", "f32[2]{0,1}", z}}));
  EXPECT_NE(builder::build_graph(parse(kLoop), plain()).inspect().find("body:"), std::string::npos);
}

TEST(Loops, SizesInsideABody) {
  expect_as_interpreted(R"((m i64[], x f32[6])
  zero = f32[]{0}
  sum, all = Loop(m, _, zero, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[], a f32[6])
      f = Cast(i) to="f32"
      more = Greater(a, f)
      found = NonZero(more)
      g = Cast(found) to="f32"
      t = ReduceSum(g) keepdims=0
      u = Add(s, t)
      return go, u, t
  ]
  return sum, all
)", sets({{"i64[]{5}", "f32[6]{4,0,3,2,1,9}"}, {"i64[]{1}", "f32[6]{0,0,0,0,0,9}"}, {"i64[]{4}", "f32[6]{9,9,9,9,9,9}"}}));
}

}  // namespace
}  // namespace tenfold
