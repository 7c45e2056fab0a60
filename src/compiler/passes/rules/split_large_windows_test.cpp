// Convolutions with large windows: as sums of others they compute what they are, wherever the windows lie.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "passes/pass.h"

namespace tenfold::passes {

Pass pass_split_large_windows();

namespace {

struct Case {
  const char* text;
  Shape image;
  int convolutions;   // that are left
};

ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}
Tensor result(const ir::Graph& graph, const Tensor& image) { return std::get<Tensor>(ops::run_graph(graph, {image}).at(0)); }

void check(const Case& c) {
  const ir::Graph before = parse(c.text);
  ir::Graph after = parse(c.text);
  passes::run(after, {pass_split_large_windows()}, {});
  int convolutions = 0;
  for (const auto& n : after.nodes()) {
    if (n->op() != "Conv") continue;
    ++convolutions;
    if (c.convolutions == 1) continue;
    EXPECT_LE(ir::product(std::span(n->in(1)->dims()).subspan(2)).constant(), 512) << c.text;
  }
  EXPECT_EQ(convolutions, c.convolutions) << c.text << "\n" << ir::print(after);
  const Tensor image = ops::random_tensor(DType::f32, c.image, 5), expected = result(before, image), got = result(after, image);
  ASSERT_EQ(got.shape(), expected.shape()) << c.text;
  double max = 0, off = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i)
    max = std::max(max, std::abs(expected.as_double(i))), off = std::max(off, std::abs(expected.as_double(i) - got.as_double(i)));
  EXPECT_LE(off, 1e-5 * max) << c.text;
}

TEST(SplitLargeWindows, WhereverTheyLie) {
  for (const Case& c : {
           Case{"(x f32[2,3,700], w f32[4,3,600]!, b f32[4]!)\n y = Conv(x, w, b)", {2, 3, 700}, 2},
           Case{"(x f32[1,2,3000], w f32[2,1,600]!)\n y = Conv(x, w) group=2 strides=[7] dilations=[3] pads=[20,1400]", {1, 2, 3000}, 2},
           Case{"(x f32[1,4,37,33], w f32[4,1,31,31]!, b f32[4]!)\n y = Conv(x, w, b) group=4 pads=[15,15,15,15] strides=[2,3]",
                {1, 4, 37, 33}, 2},
           Case{"(x f32[1,1,9,80], w f32[2,1,9,71]!)\n y = Conv(x, w) pads=[0,3,0,40]", {1, 1, 9, 80}, 2},
           Case{"(x f32[1,2,14,15,16], w f32[2,2,9,9,9]!)\n y = Conv(x, w) pads=[4,0,4,4,8,4]", {1, 2, 14, 15, 16}, 2},
           Case{"(x f32[1,1,30,30,30], w f32[1,1,25,25,25]!)\n y = Conv(x, w)", {1, 1, 30, 30, 30}, 50},
       })
    check(c);
}

TEST(SplitLargeWindows, OneMorePlaceThanConvolutionsTake) {
  check({"(x f32[1,2,600], w f32[2,1,512]!)\n y = Conv(x, w) group=2", {1, 2, 600}, 1});
  check({"(x f32[1,2,600], w f32[2,1,513]!)\n y = Conv(x, w) group=2", {1, 2, 600}, 2});
}

TEST(SplitLargeWindows, ExtentsThatVary) {
  check({"symbol h [31 .. 500] input_dim\n(x f32[b,2,h,40], w f32[2,1,31,31]!)\n y = Conv(x, w) group=2 pads=[15,15,15,15]",
         {1, 2, 50, 40},
         2});
}

// Padding alone would be left of a part: such images are small, and the convolution stays as it is.
TEST(SplitLargeWindows, ImagesThatWindowsReachBeyond) {
  check({"(x f32[1,1,1,40], w f32[1,1,31,31]!)\n y = Conv(x, w) pads=[15,15,15,15]", {1, 1, 1, 40}, 1});
  check({"(x f32[1,2,h,40], w f32[2,1,31,31]!)\n y = Conv(x, w) group=2 pads=[15,15,15,15]", {1, 2, 50, 40}, 1});
}

}  // namespace
}  // namespace tenfold::passes
