// Biases and rounding, beside loops in f64 that know nothing of them.
#include "quant/correction_method.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/text.h"
#include "ops/cases.h"
#include "quant/product_rows.h"
#include "quant/weights/channels.h"
#include "quant/weights/moments.h"
#include "tenfold/error.h"

namespace tenfold::quant {
namespace {

Tensor constant(DType dtype, const Shape& shape, std::uint64_t seed) { return ops::random_tensor(dtype, shape, seed, -1, 1); }
ir::Graph parse(std::string_view text) { return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = constant}); }

constexpr const char* kSum = R"((x f32[9,12])
  w = constant f32[12,5]
  p = constant f32[5]
  a = MatMul(x, w)
  y = Add(a, p))";

// Channels depend on each other, and values are not around zero.
Tensor data() {
  Tensor x = ops::random_tensor(DType::f32, {9, 12}, 8, 0, 1);
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] += 0.5F * x.data<float>()[i / 12 * 12];
  return x;
}

std::optional<Ranges> applied(std::string_view name, const ir::Graph& graph, const Ranges& ranges, const Tensor& x) {
  const Placing placing;
  const std::map<std::string, ChannelStats, std::less<>> none;
  const RunAgain run = [&](const Look& look, const std::set<std::string, std::less<>>&, std::size_t) { look("x", x); };
  return correction_method(name).apply({graph, ranges, placing, calibrator("minmax"), none, run});
}

const Tensor& weights(const ir::Graph& graph) {
  for (const auto& node : graph.nodes())
    if (node->op() == "MatMul" || node->op() == "Conv") return node->in(1)->constant->tensor;
  throw std::out_of_range("no product");
}

TEST(CorrectionMethod, ABiasGetsTheMeanErrorOfItsChannel) {
  const ir::Graph graph = parse(kSum);
  const Tensor x = data(), w = weights(graph);
  const Ranges ranges{{"x", {0, 1.2}}};   // some are clipped
  const std::optional<Ranges> found = applied("bias", graph, ranges, x);
  ASSERT_TRUE(found);
  const QuantizedWeights q = quantize_weights(w, 1);
  const std::vector<float>& correction = found->corrections.biases.at("a");
  ASSERT_EQ(correction.size(), 5u);
  const double step = static_cast<double>(static_cast<float>(1.2 / 255));
  for (std::int64_t o = 0; o < 5; ++o) {
    double lost = 0;
    for (std::int64_t r = 0; r < 9; ++r)
      for (std::int64_t i = 0; i < 12; ++i) {
        const double v = x.as_double(r * 12 + i), rounded = std::clamp(std::nearbyint(v / step), 0.0, 255.0) * step;
        lost += v * w.as_double(i * 5 + o) - rounded * q.values.as_double(i * 5 + o) * q.scales.as_double(o);
      }
    EXPECT_NEAR(static_cast<double>(correction[static_cast<std::size_t>(o)]), lost / 9, 1e-4);
  }
  ir::Graph placed = graph.clone();
  ASSERT_TRUE(place_qdq(placed, *found, {}));
  for (const auto& node : placed.nodes()) {
    if (node->op() != "Add") continue;
    for (std::int64_t o = 0; o < 5; ++o) {
      const double before = graph.nodes().back()->in(1)->constant->tensor.as_double(o);
      const double gained = static_cast<double>(correction[static_cast<std::size_t>(o)]);
      EXPECT_NEAR(node->in(1)->constant->tensor.as_double(o), before + gained, 1e-6);
    }
  }
}

double squared_error(const Tensor& x, const Tensor& w, const Tensor& bytes, const Tensor& scales, std::int64_t o) {
  double sum = 0;
  for (std::int64_t r = 0; r < 9; ++r) {
    double e = 0;
    for (std::int64_t i = 0; i < 12; ++i)
      e += x.as_double(r * 12 + i) * (bytes.as_double(i * 5 + o) * scales.as_double(o) - w.as_double(i * 5 + o));
    sum += e * e;
  }
  return sum;
}

TEST(CorrectionMethod, WeightsRoundToTheSideThatTheirSumsWant) {
  const ir::Graph graph = parse(kSum);
  const Tensor x = data(), w = weights(graph);
  const std::optional<Ranges> found = applied("round", graph, {{"x", {0, 1.5}}}, x);
  ASSERT_TRUE(found);
  const QuantizedWeights q = quantize_weights(w, 1);
  const Tensor& bytes = found->corrections.weights.at("a");
  double before = 0, after = 0;
  for (std::int64_t o = 0; o < 5; ++o) {
    before += squared_error(x, w, q.values, q.scales, o), after += squared_error(x, w, bytes, q.scales, o);
    for (std::int64_t i = 0; i < 12; ++i) {
      const std::int64_t at = i * 5 + o;
      const double exact = std::clamp(w.as_double(at) / q.scales.as_double(o), -127.0, 127.0);
      EXPECT_LT(std::fabs(bytes.as_double(at) - exact), 1.001);
    }
  }
  EXPECT_LT(after, 0.5 * before);
}

TEST(CorrectionMethod, MomentsOfAConvolutionsWindows) {
  const ir::Graph graph = parse(R"((x f32[1,4,5,6])
    w = constant f32[6,2,3,2]
    y = Conv(x, w) kernel_shape=[3,2] group=2 strides=[2,1] pads=[1,0,1,1] dilations=[1,2])");
  const ir::Node& conv = *graph.nodes().front();
  const Tensor x = ops::random_tensor(DType::f32, {1, 4, 5, 6}, 2, -1, 1);
  const ProductRows rows(conv, *weights_of(conv));
  ASSERT_TRUE(rows.known());
  const std::vector<float> factors{1, 2, 0.5F, 3}, some = rows.of(x, factors);
  Moments moments(12, 2);
  moments.add(some.data(), static_cast<std::int64_t>(some.size()) / 24);
  const std::int64_t heights = (5 + 2 - 3) / 2 + 1, widths = 6 + 1 - 3 + 1;
  const auto element = [&](std::int64_t group, std::int64_t term, std::int64_t p, std::int64_t q) {
    const std::int64_t c = group * 2 + term / 6, h = p * 2 - 1 + term % 6 / 2, v = q + term % 2 * 2;
    if (h < 0 || h >= 5 || v < 0 || v >= 6) return 0.0;
    return x.as_double((c * 5 + h) * 6 + v) * static_cast<double>(factors[static_cast<std::size_t>(c)]);
  };
  for (std::int64_t g = 0; g < 2; ++g)
    for (std::int64_t i = 0; i < 12; ++i)
      for (std::int64_t j = i; j < 12; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < heights; ++p)
          for (std::int64_t q = 0; q < widths; ++q) sum += element(g, i, p, q) * element(g, j, p, q);
        ASSERT_NEAR(static_cast<double>(moments.of_group(g)[i * 12 + j]), sum, 1e-4) << g << ' ' << i << ' ' << j;
      }
}

TEST(CorrectionMethod, AnUnknownOneIsRefusedByName) {
  try {
    correction_method("hope");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("there is no correction 'hope'; there are equalize, smooth, round, bias"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tenfold::quant
