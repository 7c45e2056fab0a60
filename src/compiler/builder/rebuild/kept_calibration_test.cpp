// Plans of 8 bits that are built again from the model that they keep: with the ranges, corrections and types of layers that they had.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "builder/builder.h"
#include "builder/rebuild/kept_model.h"
#include "builder/rebuild/other_version_for_tests.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "plan/write.h"
#include "runtime/engine/opened.h"

namespace tenfold::builder {
namespace {

constexpr const char* kModel = R"((x f32[4,32])
  w = constant f32[32,48]
  b = constant f32[48]
  p = Gemm(x, w, b) name="first"
  r = Relu(p)
  v = constant f32[48,32]
  c = constant f32[32]
  y = Gemm(r, v, c) name="second")";

ir::Graph model() {
  return ir::parse_graph(kModel, ir::Registry::builtin(), {.random_constant = [](DType t, const Shape& shape, std::uint64_t seed) {
                           return ops::random_tensor(t, shape, seed);
                         }});
}

std::optional<InputSet> sample(int index) {
  if (index >= 60) return {};
  return InputSet{{"x", ops::random_tensor(DType::f32, {4, 32}, static_cast<std::uint64_t>(index) + 1)}};
}

BuildConfig config() {
  BuildConfig c;
  c.optimization_level = 0, c.threads = 1, c.version_compatible = true;
  c.calibration = Calibration{.sample = sample};
  return c;
}

Engine again(const Engine& engine) {
  const std::string bytes = of_version(plan::serialize(runtime::state_of(engine)->plan), 1);
  return load_compatible(std::as_bytes(std::span(bytes)), {.threads = 1});
}

std::vector<std::string> ops_of(const Engine& engine) {
  std::vector<std::string> ops;
  for (const plan::Step& step : runtime::state_of(engine)->plan.programs.at(0).steps) ops.push_back(step.op);
  return ops;
}

bool answers_alike(const Engine& a, const Engine& b) {
  const Tensor x = ops::random_tensor(DType::f32, {4, 32}, 77);
  const Tensor y = a.create_context()->run({x}).at(0), z = b.create_context()->run({x}).at(0);
  return y.shape() == z.shape() && std::memcmp(y.raw(), z.raw(), static_cast<std::size_t>(y.bytes())) == 0;
}

std::ptrdiff_t integers(const Engine& engine) {
  const std::vector<std::string> ops = ops_of(engine);
  return std::count(ops.begin(), ops.end(), "MatMulInteger");
}

TEST(KeptCalibration, RangesAndCorrectionsServeAgain) {
  const Engine engine = build_graph(model(), config(), "m");
  ASSERT_EQ(integers(engine), 2);
  const Engine other = again(engine);
  EXPECT_EQ(ops_of(other), ops_of(engine));
  EXPECT_TRUE(answers_alike(other, engine));
}

TEST(KeptCalibration, LayersThatABudgetLeftWideStayWide) {
  BuildConfig c = config();
  c.layer_types = {LayerConstraints::prefer, {{"second", DType::f32}}, {}};
  const Engine engine = build_graph(model(), c, "m");
  ASSERT_EQ(integers(engine), 1);
  EXPECT_TRUE(answers_alike(again(engine), engine));
}

TEST(KeptCalibration, OfASearchWithinABudgetToo) {
  BuildConfig c = config();
  c.budget = ErrorBudget{.max_error = 0.9, .search_seconds = 5};
  const Engine engine = build_graph(model(), c, "m");
  EXPECT_TRUE(answers_alike(again(engine), engine));
}

TEST(KeptCalibration, RowsGoOnBeingQuantizedAsTheyRun) {
  BuildConfig c = config();
  c.calibration = Calibration{.sample = {}, .method = "dynamic"};
  const Engine engine = build_graph(model(), c, "m");
  EXPECT_TRUE(answers_alike(again(engine), engine));
  EXPECT_EQ(ops_of(again(engine)), ops_of(engine));
}

TEST(KeptCalibration, WhatIsNoRangeIsRefused) {
  plan::KeptModel kept = runtime::state_of(build_graph(model(), config(), "m"))->plan.kept;
  const std::size_t at = kept.text.find("seen values");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(kept.text.substr(0, 13), "kept model 2\n");
  for (const char* other : {"seen valves", "seen biases", "keen values"}) {
    plan::KeptModel damaged = kept;
    damaged.text.replace(at, 11, other);
    EXPECT_THROW(read_kept_model(damaged, ir::Registry::builtin()), Error) << other;
  }
  BuildConfig plain = config();
  plain.calibration.reset();
  EXPECT_EQ(runtime::state_of(build_graph(model(), plain))->plan.kept.text.substr(0, 13), "kept model 1\n") << "older versions read it";
}

}  // namespace
}  // namespace tenfold::builder
