// Rows with NaN, Inf and floats near the limits, which whoever sends a request may put into it: what plans for each instruction set make of
// them, beside sums in f64, and that they take not much longer than other rows.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "backends/cpu/feature_sets.h"
#include "builder/builder.h"
#include "ir/text.h"

namespace tenfold {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kIn = 784, kHidden = 512, kOut = 10;

Tensor random_floats(DType, const Shape& shape, std::uint64_t seed) {
  Tensor t(DType::f32, shape);
  std::mt19937 random(static_cast<unsigned>(seed));
  std::normal_distribution<float> normal(0, shape[0] == kIn ? 0.036f : shape[0] == kHidden ? 0.045f : 1.f);
  for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = normal(random);
  return t;
}

// The weights of the two layers, in order.
std::vector<Tensor> weights;
Tensor weight(DType dtype, const Shape& shape, std::uint64_t seed) { return weights.emplace_back(random_floats(dtype, shape, seed)); }

ir::Graph perceptron(std::int64_t rows) {
  weights.clear();
  return ir::parse_graph(cat("(x f32[", rows, ",784], v f32[784,512]!, w f32[512,10]!)\n h = MatMul(x, v)\n y = MatMul(h, w)"),
                         ir::Registry::builtin(), {.random_constant = weight});
}

std::vector<double> product(const std::vector<double>& row, const Tensor& matrix) {
  std::vector<double> sums(static_cast<std::size_t>(matrix.shape()[1]));
  const float* at = matrix.data<float>();
  for (const double value : row)
    for (double& sum : sums) sum += value * double{*at++};
  return sums;
}

void expect_row(const float* got, const float* x) {
  const std::vector<double> sums = product(product({x, x + kIn}, weights.at(0)), weights.at(1));
  double largest = 0;
  for (const double sum : sums) largest = std::max(largest, std::isfinite(sum) ? std::abs(sum) : 0);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const double y = double{got[c]}, sum = sums[c];
    EXPECT_TRUE(std::isfinite(sum) ? std::abs(y - sum) <= 1e-4 * largest + 1e-35 : std::isnan(sum) ? std::isnan(y) : y == sum)
        << "column " << c << ": " << y << " for " << sum;
  }
}

// What is put into a row: at its third column, or everywhere.
struct Special {
  float value;
  bool everywhere;
};
constexpr Special kSpecial[] = {{kNaN, false},  {kInfinity, false}, {-kInfinity, false}, {1e38f, false}, {-1e38f, false},   {1e-40f, false},
                                {1e-40f, true}, {1e-30f, true},     {1e-38f, true},      {kNaN, true},   {kInfinity, true}};
void put(const Special& special, float* row) {
  if (special.everywhere) std::fill_n(row, kIn, special.value);
  else row[2] = special.value;
}

double seconds_of_run(ExecutionContext& context, const Tensor& x) {   // the least: others use this machine
  double least = 1e9;
  for (int i = 0; i < 25; ++i) {
    const auto start = std::chrono::steady_clock::now();
    context.run({x});
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

// In the first row, and in a batch also in every third one.
void check(const Engine& engine, std::int64_t rows) {
  const auto context = engine.create_context();
  const Tensor usual = random_floats(DType::f32, {rows, kIn}, 7);
  const double usual_seconds = seconds_of_run(*context, usual);
  for (const Special& special : kSpecial) {
    SCOPED_TRACE(cat(special.value, special.everywhere ? " everywhere" : ""));
    Tensor x = usual.clone();
    for (std::int64_t r = 0; r < rows; r += 3) put(special, x.mutable_data<float>() + r * kIn);
    const Tensor y = context->run({x})[0];
    for (std::int64_t r = 0; r < rows; ++r) expect_row(y.data<float>() + r * kOut, x.data<float>() + r * kIn);
    Tensor one = usual.clone();
    put(special, one.mutable_data<float>());
    const double seconds = seconds_of_run(*context, one);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)   // which slow some loops down more than others
    EXPECT_LT(seconds, 20 * usual_seconds) << seconds * 1e6 << " us, usually " << usual_seconds * 1e6;
#endif
  }
}

TEST(SpecialRows, AreWhatF64GivesAndTakeNotMuchLonger) {
  for (const std::uint32_t features : backends::testing::feature_sets())
    for (const std::int64_t rows : {1, 3, 16})
      for (const std::uint64_t choices : {0, 1, 2, 3}) {   // the fastest kernels, and any others
        SCOPED_TRACE(cat(rows, " rows, features ", features, ", choices ", choices));
        BuildConfig config;
        config.threads = 1, config.cpu_features = features, config.random_choices = choices, config.optimization_level = 1;
        check(builder::build_graph(perceptron(rows), config), rows);
      }
}

}  // namespace
}  // namespace tenfold
