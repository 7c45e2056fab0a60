// precompute() and run() over a stream of rows, beside whole windows by the reference kernels.
#include <gtest/gtest.h>

#include <cmath>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "plan/inspect.h"
#include "runtime/engine/engine_access.h"
#include "runtime/engine/opened.h"

namespace tenfold {
namespace {

constexpr const char* kStack = R"((x f32[1,6,5], w f32[1,32,5]!, r f32[1,32,8]!, b f32[1,64]!, v f32[1,24,8]!, s f32[1,24,8]!, d f32[8,2]!)
    squeezed = i64[3]{6,1,8}
    zero = i64[1]{0}
    t = Transpose(x) perm=[1,0,2]
    a, ah, ac = LSTM(t, w, r, b)
    q = Reshape(a, squeezed)
    u = Tanh(q)
    g, gh = GRU(u, v, s) linear_before_reset=1
    l = Squeeze(gh, zero)
    y = MatMul(l, d))";

ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}
BuildConfig config(const char* row) {
  BuildConfig c;
  c.optimization_level = 0, c.threads = 1, c.tf32 = false, c.newest_row = row;
  return c;
}
std::string refusal(const char* graph, const char* row) {
  try {
    builder::build_graph(parse(graph), config(row));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// A stream of windows: rows come one by one; now and then a window begins anew, and now and then nobody computes early.
class Stream {
 public:
  explicit Stream(const char* graph, const Shape& window, std::size_t axis)
      : graph_(parse(graph)), engine_(builder::build_graph(parse(graph), config(("x:" + std::to_string(axis)).c_str()))),
        context_(engine_.create_context()), window_(DType::f32, window), axis_(axis) {
    EXPECT_TRUE(context_->bind(0, window_.mutable_raw(), window_.bytes()));
    context_->own_memory(1);
    for (std::int64_t r = 0; r + 1 < rows(); ++r) put(r);
  }
  const Engine& engine() const { return engine_; }
  ExecutionContext& context() { return *context_; }
  std::int64_t rows() const { return window_.shape()[axis_]; }
  void slide() {
    for (std::int64_t r = 0; r + 1 < rows(); ++r)
      each(r, [&](float& to, std::int64_t stride) { to = *(&to + stride); });
  }
  void put(std::int64_t row) {
    each(row, [&](float& to, std::int64_t) { to = std::sin(static_cast<float>(++count_) * 1.7f); });
  }
  void early() {
    put(rows() - 1);   // what lies in the newest row before it is there is nobody's
    EXPECT_TRUE(context_->precompute());
  }
  void expect_answer() {
    ASSERT_TRUE(context_->run());
    const Tensor expected = ops::run_graph(graph_, {window_}).at(0).tensor();
    const auto* got = static_cast<const float*>(context_->own_memory(1));
    for (std::int64_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(got[i], expected.as_double(i), 1e-5) << "element " << i;
  }

 private:
  template <class F>
  void each(std::int64_t row, F&& f) {
    std::int64_t inner = 1, outer = 1;
    for (std::size_t d = 0; d < window_.shape().size(); ++d) (d < axis_ ? outer : inner) *= d == axis_ ? 1 : window_.shape()[d];
    auto* data = window_.mutable_data<float>();
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i) f(data[(o * rows() + row) * inner + i], inner);
  }

  ir::Graph graph_;
  Engine engine_;
  std::unique_ptr<ExecutionContext> context_;
  Tensor window_;
  std::size_t axis_;
  int count_ = 0;
};

void run_stream(Stream& stream) {
  for (int i = 0; i < 300; ++i) {
    const bool early = i % 7 != 3;          // else the row came too soon: run() computes all
    if (i % 50 == 20)                       // a gap: the window begins anew
      for (std::int64_t r = 0; r + 1 < stream.rows(); ++r) stream.put(r);
    if (early) stream.early();
    stream.put(stream.rows() - 1);
    stream.expect_answer();
    if (testing::Test::HasFatalFailure()) return;
    stream.slide();
  }
}

TEST(NewestRow, StacksOfLayersAnswerAsWholeWindows) {
  Stream stream(kStack, {1, 6, 5}, 1);
  EXPECT_GT(stream.engine().info().precomputed_steps, 0);
  EXPECT_LT(stream.engine().info().precomputed_steps, stream.engine().info().steps);
  run_stream(stream);
}

TEST(NewestRow, CausalConvolutionsAnswerAsWholeWindows) {
  Stream stream(R"((x f32[1,3,16], w f32[4,3,3]!, v f32[4,4,2]!)
    first = i64[1]{-2}
    end = i64[1]{16}
    axis = i64[1]{2}
    a = Conv(x, w) pads=[2,0]
    r = Relu(a)
    b = Conv(r, v) dilations=[4] pads=[4,0]
    c = Add(b, r)
    y = Slice(c, first, end, axis))", {1, 3, 16}, 2);
  run_stream(stream);
}

TEST(NewestRow, WhatComesBeforeItDoesNotReadIt) {
  Stream stream(kStack, {1, 6, 5}, 1);
  const plan::Plan& plan = runtime::state_of(stream.engine())->plan;
  const std::string text = plan::inspect_text(plan, 0);
  EXPECT_NE(text.find("before the newest row:\n"), std::string::npos) << text;
  EXPECT_NE(text.find("with the newest row:\n"), std::string::npos) << text;
  stream.early();
  EXPECT_TRUE(stream.context().precompute());   // twice is once
  stream.put(stream.rows() - 1);
  stream.expect_answer();
}

TEST(NewestRow, ChangesBetweenTheHalvesAreSeen) {
  Stream stream(kStack, {1, 6, 5}, 1);
  stream.early();
  Tensor other(DType::f32, {1, 6, 5});
  for (std::int64_t i = 0; i < other.size(); ++i) other.mutable_data<float>()[i] = 0.25f;
  ASSERT_TRUE(stream.context().bind(0, other.mutable_raw(), other.bytes()));
  ASSERT_TRUE(stream.context().run());
  const Tensor expected = ops::run_graph(parse(kStack), {other}).at(0).tensor();
  EXPECT_NEAR(static_cast<const float*>(stream.context().own_memory(1))[0], expected.as_double(0), 1e-5);
}

TEST(NewestRow, RefusalsNameNodeOrField) {
  EXPECT_NE(refusal(kStack, "z:1").find("no input 'z'; there are x"), std::string::npos);
  EXPECT_NE(refusal(kStack, "x:3").find("'x' has no axis 3"), std::string::npos);
  EXPECT_NE(refusal(kStack, "x:0").find("has 1 rows along axis 0"), std::string::npos);
  for (const char* text : {"x", ":1", "x:", "x:-1", "x:1a"})
    EXPECT_NE(refusal(kStack, text).find("as x:1"), std::string::npos) << text;
  const char* const reverse = "(x f32[6,1,5], w f32[1,32,5]!, r f32[1,32,8]!)\n y, h, c = LSTM(x, w, r) direction=\"reverse\"";
  EXPECT_NE(refusal(reverse, "x:0").find("(LSTM) walks the rows of 'x' backwards"), std::string::npos) << refusal(reverse, "x:0");
  const char* const mean = "(x f32[1,6,5])\n y = ReduceMean(x) axes=[1]";
  EXPECT_NE(refusal(mean, "x:1").find("(ReduceMean) needs all rows at once"), std::string::npos) << refusal(mean, "x:1");
}

}  // namespace
}  // namespace tenfold
