// Builds with corrections: what is kept lessens the error, and the plan computes what the graph with Q/DQ means.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "builder/precision/calibrate.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {
namespace {

Tensor constant(DType dtype, const Shape& shape, std::uint64_t seed) { return ops::random_tensor(dtype, shape, seed, -0.5, 0.5); }
ir::Graph parse(std::string_view text) { return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = constant}); }

// One channel in eight is far wider than the rest.
Tensor uneven(const Shape& shape, std::int64_t channels, std::int64_t inner, std::uint64_t seed) {
  Tensor t = ops::random_tensor(DType::f32, shape, seed, -1, 1);
  for (std::int64_t i = 0; i < t.size(); ++i)
    if (i / inner % channels % 8 == 3) t.mutable_data<float>()[i] *= 40;
  return t;
}

struct Case {
  std::string text;
  Shape shape;
  std::int64_t channels, inner;
};

constexpr const char* kPlanes = R"((x f32[1,@,6,6])
  u = constant f32[#,@,1,1]
  v = constant f32[#,1,3,3]
  w = constant f32[8,#,1,1]
  b = constant f32[#]
  a = Conv(x, u, b) kernel_shape=[1,1]
  c = Relu(a)
  d = Conv(c, v) kernel_shape=[3,3] pads=[1,1,1,1] group=#
  e = Relu(d)
  y = Conv(e, w) kernel_shape=[1,1])";
constexpr const char* kRows = R"((x f32[5,@])
  g = constant f32[@]
  h = constant f32[@]
  u = constant f32[@,#]
  b = constant f32[#]
  w = constant f32[#,@]
  n = LayerNormalization(x, g, h) axis=-1
  a = MatMul(n, u)
  c = Add(a, b)
  d = Relu(c)
  e = MatMul(d, w)
  y = Add(e, n))";

// Layers of random sizes: convolutions with depthwise ones between them, or products with norms and sums around them.
Case random_case(std::uint64_t seed) {
  const auto pick = [&](std::uint64_t salt, std::int64_t of) {
    return static_cast<std::int64_t>((seed * 2654435761U + salt * 40503U) >> 7) % of;
  };
  const std::int64_t in = 8 * (1 + pick(1, 2)), out = 8 * (1 + pick(2, 3));
  const bool planes = seed % 2 == 0;
  std::string text = planes ? kPlanes : kRows;
  for (const auto& [letter, number] : {std::pair('@', in), std::pair('#', out)})
    for (std::size_t at; (at = text.find(letter)) != std::string::npos;) text.replace(at, 1, std::to_string(number));
  return planes ? Case{text, {1, in, 6, 6}, in, 36} : Case{text, {5, in}, in, 1};
}

BuildConfig with(const Case& one, std::vector<std::string> corrections) {
  BuildConfig config;
  config.optimization_level = 0;
  config.calibration = Calibration{.sample = [&one](int index) -> std::optional<InputSet> {
    if (index >= 60) return {};
    return InputSet{{"x", uneven(one.shape, one.channels, one.inner, static_cast<std::uint64_t>(index) + 1)}};
  }};
  config.calibration->method = "minmax", config.calibration->corrections = std::move(corrections);
  return config;
}

TEST(Corrections, ThePlanComputesWhatTheGraphWithThemMeans) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const Case one = random_case(seed);
    const ir::Graph graph = parse(one.text);
    const BuildConfig config = with(one, {"equalize", "smooth", "round", "bias"});
    CalibrationReport found;
    const quant::Placing placing;
    ir::Graph placed = graph.clone();
    place_qdq(placed, calibrated(graph, {}, placing, config, found), placing);
    ir::verify(placed);
    EXPECT_TRUE(std::any_of(found.corrections.begin(), found.corrections.end(), [](const CorrectionReport& r) { return r.kept; }));
    for (const CorrectionReport& r : found.corrections) EXPECT_EQ(r.kept, r.after < r.before) << r.name;
    BuildReport report;
    const Engine engine = build_graph(graph, config, "", &report);
    const Tensor x = config.calibration->sample(1)->at("x");
    const auto context = engine.create_context();
    const Tensor got = run_values(*context, {x})[0].tensor(), expected = ops::run_graph(placed, {x})[0].tensor(),
                 floats = ops::run_graph(graph, {x})[0].tensor();
    double off = 0, rounded = 0, size = 0;
    for (std::int64_t i = 0; i < expected.size(); ++i)
      off += std::pow(got.as_double(i) - expected.as_double(i), 2), rounded += std::pow(floats.as_double(i) - expected.as_double(i), 2),
          size += std::pow(expected.as_double(i), 2);
    EXPECT_LT(std::sqrt(off / size), 2e-3);   // now and then a value lies between two bytes
    EXPECT_GT(rounded, 0);
  }
}

TEST(Corrections, TheErrorOnOtherSamplesFalls) {
  const Case one = random_case(3);
  BuildReport without, all;
  build_graph(parse(one.text), with(one, {}), "", &without);
  build_graph(parse(one.text), with(one, {"smooth", "round"}), "", &all);
  EXPECT_TRUE(without.calibration->corrections.empty());
  EXPECT_LT(all.calibration->errors[0].relative_l2, 0.9 * without.calibration->errors[0].relative_l2);
}

TEST(Corrections, AnUnknownOneIsRefused) {
  const Case one = random_case(1);
  EXPECT_THROW(build_graph(parse(one.text), with(one, {"hope"})), Error);
}

}  // namespace
}  // namespace tenfold::builder
