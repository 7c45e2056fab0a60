// Slices that sink through stacks of convolutions: the rewritten graph computes what the original does.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/pipeline.h"

namespace tenfold::passes {
namespace {

ir::Graph parse(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}
std::vector<RuntimeValue> results(const ir::Graph& graph, const Shape& shape) {
  return ops::run_graph(graph, {ops::random_tensor(DType::f32, shape, 77)});
}
std::int64_t elements(const ir::Graph& graph, std::string_view op) {
  std::int64_t count = 0;
  for (const auto& n : graph.nodes())
    if (n->op() == op) count += ir::product(std::span(n->out()->dims()).subspan(1)).constant();
  return count;
}

// A stack of dilated convolutions with residuals, of which slices read some columns.
std::string stack(std::mt19937& numbers) {
  const auto upto = [&](unsigned max) { return numbers() % max; };
  std::string literals =
      "(x f32[b,3,40], w f32[3,3,3]!, v f32[3,1,2]!, s f32[3]!, m f32[3]!, t f32[3,1]!)\n"
      "q = f32[3]{1.0,0.5,2.0}\n";
  std::string nodes, x = "x", ends;
  const auto list = [](std::int64_t v) { return "i64[1]{" + std::to_string(v) + "}"; };
  std::int64_t columns = 40;
  for (int layer = 0; layer < 4; ++layer) {
    const std::string n = std::to_string(layer);
    const std::int64_t dilation = 1 + upto(4), kernel = upto(2) ? 3 : 2, left = dilation * (kernel - 1);
    const bool stride = upto(5) == 0 && columns > 20, chomp = upto(3) == 0;
    literals += "pads" + n + " = i64[6]{0,0," + std::to_string(left) + ",0,0,0}\nzero" + n + " = " + list(0) + "\nend" + n + " = " +
                list(-left) + "\naxis" + n + " = " + list(2) + "\n";
    std::string in = x;
    if (upto(3) == 0 && !chomp) nodes += "p" + n + " = Pad(" + x + ", pads" + n + ")\n", in = "p" + n;
    const std::string pads = in != x ? "[0,0]" : "[" + std::to_string(left) + "," + std::to_string(chomp ? left : 0) + "]";
    nodes += "c" + n + " = Conv(" + in + ", " + (kernel == 3 ? "w" : "v") + ") dilations=[" + std::to_string(dilation) + "] pads=" + pads +
             " group=" + (kernel == 3 ? "1" : "3") + " strides=[" + (stride ? "2" : "1") + "]\n";
    if (stride) columns = (columns + 1) / 2;
    std::string y = "c" + n;
    if (chomp && !stride) nodes += "d" + n + " = Slice(" + y + ", zero" + n + ", end" + n + ", axis" + n + ")\n", y = "d" + n;
    if (chomp && stride) return stack(numbers);
    nodes += "b" + n + " = BatchNormalization(" + y + ", s, m, s, q)\nr" + n + " = Relu(b" + n + ")\n";
    if (stride) x = "r" + n;
    else nodes += "a" + n + " = Add(r" + n + ", " + x + ")\n", x = "a" + n;
    if (upto(3) == 0) nodes += "e" + n + " = Mul(" + x + ", t)\n", x = "e" + n;
  }
  const int slices = 1 + static_cast<int>(upto(2));
  for (int i = 0; i < slices; ++i) {
    const std::string n = std::to_string(i);
    const std::int64_t first = columns - 1 - upto(3);
    literals += "f" + n + " = " + list(first) + "\ng" + n + " = " + list(columns) + "\nh" + n + " = " + list(2) + "\nk" + n + " = " +
                list(1 + upto(2)) + "\n";
    nodes += "y" + n + " = Slice(" + x + ", f" + n + ", g" + n + ", h" + n + ", k" + n + ")\n";
    ends += (i ? ", y" : "return y") + n;
  }
  const std::size_t body = literals.find('\n') + 1;
  return literals.substr(0, body) + literals.substr(body) + nodes + ends;
}

TEST(SinkSlice, StacksComputeTheSameFromTheirBackwardSlice) {
  std::mt19937 numbers(5);
  int smaller = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string text = stack(numbers);
    const ir::Graph before = parse(text);
    ir::Graph after = parse(text);
    run(after, {find_pass("sink_slice")});
    smaller += elements(after, "Conv") * 2 < elements(before, "Conv");
    const std::vector<RuntimeValue> truth = results(before, {2, 3, 40}), made = results(after, {2, 3, 40});
    ASSERT_EQ(made.size(), truth.size()) << text;
    for (std::size_t o = 0; o < made.size(); ++o) {
      const Tensor &expected = truth[o].tensor(), &got = made[o].tensor();
      ASSERT_EQ(got.shape(), expected.shape()) << text;
      for (std::int64_t e = 0; e < got.size(); ++e)
        ASSERT_NEAR(got.as_double(e), expected.as_double(e), 1e-5 * (1 + std::abs(expected.as_double(e)))) << text << ir::print(after);
    }
    EXPECT_FALSE(find_pass("sink_slice").run(after)) << text << ir::print(after);   // nothing is left to sink
  }
  EXPECT_GT(smaller, 40);
}

// Doubling dilations: each layer computes only what the next one reads, 7 columns in all where 3 layers had 16 each.
TEST(SinkSlice, TheLastColumnOfDoublingDilations) {
  ir::Graph graph = parse(R"((x f32[b,4,16], w f32[4,4,2]!)
    first = i64[1]{-1}
    end = i64[1]{16}
    axis = i64[1]{2}
    a = Conv(x, w) dilations=[1] pads=[1,0]
    b = Conv(a, w) dilations=[2] pads=[2,0]
    c = Conv(b, w) dilations=[4] pads=[4,0]
    y = Slice(c, first, end, axis))");
  run(graph, {find_pass("sink_slice")});
  EXPECT_EQ(elements(graph, "Conv"), 4 * (4 + 2 + 1));
}

}  // namespace
}  // namespace tenfold::passes
