// Loops whose carried values change their extents from one iteration to the next: as programs with kernels, built, saved and loaded, and on
// a device with memory of its own, against the interpreter.
#include <gtest/gtest.h>

#include "as_interpreted.h"
#include "tenfold/bindings.h"
#include "tenfold/inspect.h"

namespace tenfold {
namespace {

// Neither the loop nor anything in it runs on the host's reference kernels, but for `references` steps that count.
void expect_program(const std::string& text, int references = 0) {
  const Engine engine = builder::build_graph(parse(text), plain());
  int loops = 0, found = 0;
  const PlanInspection plan = engine.inspection();
  for (const PlanStep& step : plan.programs[0].steps) loops += step.kind == "loop", found += step.kind == "reference";
  EXPECT_GE(loops, 1) << engine.inspect();
  EXPECT_EQ(found, references) << engine.inspect();
}

TEST(GrowingLoops, DoubleTheirLength) {
  const std::string text = R"((m i64[], x f32[2])
  y = Loop(m, _, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[k])
      t = Concat(s, s) axis=0
      return go, t
  ]
  return y
)";
  expect_program(text);
  expect_as_interpreted(text, sets({{"i64[]{3}", "f32[2]{1,2}"},
                                    {"i64[]{5}", "f32[2]{1,2}"},
                                    {"i64[]{0}", "f32[2]{1,2}"},
                                    {"i64[]{-3}", "f32[2]{1,2}"},
                                    {"i64[]{1}", "f32[2]{1,2}"}}));
}

// Keys and values enter equal and grow alike, so that the product of the weights with the values needs no look at their lengths.
const char* const kCache = R"((n i64[], x f32[1,8], w f32[8,8]!, v f32[8,8]!)
  first = f32[1,8]{0,1,0,1,0,1,0,1}
  y, keys, values = Loop(n, _, x, first, x, w, v) carried=3 graphs=[
    (i i64[], go bool[], s f32[1,8], k f32[a,8], u f32[b,8], q f32[8,8], r f32[8,8])
      query = MatMul(s, q)
      value = MatMul(s, r)
      ks = Concat(k, query) axis=0
      us = Concat(u, value) axis=0
      kt = Transpose(ks) perm=[1,0]
      scores = MatMul(query, kt)
      p = Softmax(scores) axis=-1
      o = MatMul(p, us)
      t = Tanh(o)
      return go, t, ks, us
  ]
  return y, keys, values
)";

TEST(GrowingLoops, AttendOverACache) {
  expect_program(kCache);
  std::vector<std::vector<Tensor>> runs;
  for (const std::int64_t turns : {5, 1, 60, 0, 7}) {
    Tensor n(DType::i64, {});
    *n.mutable_data<std::int64_t>() = turns;
    runs.push_back({n, ops::random_tensor(DType::f32, {1, 8}, static_cast<std::uint64_t>(turns + 1))});
  }
  expect_as_interpreted(kCache, runs);
}

TEST(GrowingLoops, OneSymbolForWhatGrowsAlike) {
  const ir::Graph graph = parse(kCache);
  const ir::Node* loop = nullptr;
  for (const auto& node : graph.nodes())
    if (!node->graphs.empty()) loop = node.get();
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->outputs[1]->dims()[0], loop->outputs[2]->dims()[0]);
  EXPECT_TRUE(loop->outputs[1]->dims()[0].is_symbol());
}

TEST(GrowingLoops, EndByTheirCondition) {
  const std::string text = R"((most i64[], x f32[1,2])
  more = bool[]{1}
  y, lengths = Loop(_, more, x, most) carried=1 graphs=[
    (i i64[], go bool[], s f32[k,2], m i64[])
      zero = i64[]{0}
      t = Concat(s, s) axis=0
      shape = Shape(t)
      length = Gather(shape, zero) axis=0
      c = Less(length, m)
      return c, t, length
  ]
  return y, lengths
)";
  expect_program(text, 1);   // Shape is one on CPUs
  expect_as_interpreted(text, sets({{"i64[]{5}", "f32[1,2]{1,2}"}, {"i64[]{1}", "f32[1,2]{1,2}"}, {"i64[]{1000}", "f32[1,2]{1,2}"}}));
}

const char* const kShrinks = R"((n i64[], x f32[6])
  y = Loop(n, _, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[k])
      b = i64[1]{1}
      e = i64[1]{1000}
      r = Slice(s, b, e)
      t = Tanh(r)
      return go, t
  ]
  return y
)";

TEST(GrowingLoops, Shrink) {
  expect_program(kShrinks);
  expect_as_interpreted(kShrinks, sets({{"i64[]{2}", "f32[6]{1,2,3,4,5,6}"}, {"i64[]{9}", "f32[6]{1,2,3,4,5,6}"},
                                        {"i64[]{0}", "f32[6]{1,2,3,4,5,6}"}}));
}

// The caller's memory has room for the result alone, not for what was there before.
TEST(GrowingLoops, LeaveTheCallersMemoryAloneUntilTheEnd) {
  const auto context = builder::build_graph(parse(kShrinks), plain()).create_context();
  Tensor n = literal("i64[]{4}"), x = literal("f32[6]{1,2,3,4,5,6}");
  float room[4] = {0, 0, 7, 7};
  ASSERT_TRUE(static_cast<bool>(context->bind(0, n.mutable_raw(), n.bytes())));
  ASSERT_TRUE(static_cast<bool>(context->bind(1, x.mutable_raw(), x.bytes())));
  ASSERT_TRUE(static_cast<bool>(context->bind(2, room, 2 * sizeof(float))));
  ASSERT_TRUE(static_cast<bool>(context->run()));
  EXPECT_EQ(context->shape(2), Shape{2});
  EXPECT_EQ(room[2], 7);
  EXPECT_NE(room[1], 0);
  *n.mutable_data<std::int64_t>() = 3;
  EXPECT_EQ(context->run(), (Status{Status::invalid_binding, 2}));
}

// A branch whose results grow: their sizes are known before it runs, and so is their memory there.
TEST(GrowingLoops, GrowInABranch) {
  const std::string text = R"((n i64[], x f32[1,4])
  y = Loop(n, _, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[k,4])
      two = i64[]{2}
      zero = i64[]{0}
      part = Mod(i, two)
      even = Equal(part, zero)
      m = ReduceMean(s) axes=[0] keepdims=1
      t = If(even, s, m) graphs=[
        (a f32[k,4], b f32[1,4])
          r = Concat(a, b) axis=0
          return r
        (a f32[k,4], b f32[1,4])
          r = Tanh(a)
          return r
      ]
      return go, t
  ]
  return y
)";
  expect_program(text);
  expect_as_interpreted(text, sets({{"i64[]{5}", "f32[1,4]{1,2,3,4}"}, {"i64[]{12}", "f32[1,4]{1,-2,3,4}"},
                                    {"i64[]{0}", "f32[1,4]{1,2,3,4}"}}));
}

// Sizes that steps of the body find, so that what it leaves has its memory late.
TEST(GrowingLoops, AppendWhatIsFound) {
  const std::string text = R"((n i64[], x f32[6])
  none = i64[1,0]{}
  y, z = Loop(n, _, none, x, x) carried=2 graphs=[
    (i i64[], go bool[], s i64[1,k], last f32[j], a f32[6])
      f = Cast(i) to="f32"
      more = Greater(a, f)
      found = NonZero(more)
      t = Concat(s, found) axis=1
      picked = Compress(a, more) axis=0
      return go, t, picked
  ]
  return y, z
)";
  expect_program(text, 2);
  expect_as_interpreted(text, sets({{"i64[]{5}", "f32[6]{4,0,3,2,1,9}"},
                                    {"i64[]{1}", "f32[6]{0,0,0,0,0,0}"},
                                    {"i64[]{0}", "f32[6]{0,1,0,0,0,0}"},
                                    {"i64[]{8}", "f32[6]{9,9,9,9,9,9}"}}));
}

TEST(GrowingLoops, OneInAnother) {
  const std::string text = R"((n i64[], x f32[1,2])
  y = Loop(n, _, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[k,2])
      u, rows = Loop(i, _, s, s) carried=1 graphs=[
        (j i64[], more bool[], a f32[p,2], whole f32[k,2])
          m = ReduceSum(whole) axes=[0] keepdims=1
          t = Concat(a, m) axis=0
          h = Tanh(m)
          return more, t, h
      ]
      c = Concat(u, s) axis=0
      return go, c
  ]
  return y
)";
  expect_program(text);
  expect_as_interpreted(text, sets({{"i64[]{4}", "f32[1,2]{1,-2}"}, {"i64[]{1}", "f32[1,2]{1,-2}"}, {"i64[]{5}", "f32[1,2]{0.1,0.2}"}}));
}

TEST(GrowingLoops, AreCarriedByALoopThatStacks) {
  const std::string text = R"((n i64[], x f32[2])
  y, sums = Loop(n, _, x) carried=1 graphs=[
    (i i64[], go bool[], s f32[k])
      one = f32[1]{1}
      t = Concat(s, one) axis=0
      m = ReduceSum(t) keepdims=0
      return go, t, m
  ]
  z = Mul(sums, sums)
  return y, z
)";
  expect_program(text);
  expect_as_interpreted(text, sets({{"i64[]{3}", "f32[2]{1,2}"}, {"i64[]{40}", "f32[2]{1,2}"}, {"i64[]{0}", "f32[2]{1,2}"}}));
}

// Values that enter equal and grow apart have sizes of their own: what does not suit is found in the iteration in which that is so.
TEST(GrowingLoops, RefuseSizesThatDoNotSuit) {
  const std::string text = R"((n i64[], x f32[2])
  a, b, c = Loop(n, _, x, x, x) carried=3 graphs=[
    (i i64[], go bool[], p f32[k], q f32[j], r f32[h])
      one = f32[1]{1}
      sum = Add(p, q)
      p2 = Concat(p, one) axis=0
      q2 = Concat(q, one, one) axis=0
      return go, p2, q2, sum
  ]
  return a, b, c
)";
  const auto context = builder::build_graph(parse(text), plain()).create_context();
  EXPECT_NO_THROW(context->run({literal("i64[]{1}"), literal("f32[2]{1,2}")}));
  try {
    context->run({literal("i64[]{2}"), literal("f32[2]{1,2}")});
    ADD_FAILURE() << "3 and 4 elements were added";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("broadcast"), std::string::npos) << e.what();
  }
  EXPECT_NO_THROW(context->run({literal("i64[]{1}"), literal("f32[2]{1,2}")}));
}

}  // namespace
}  // namespace tenfold
