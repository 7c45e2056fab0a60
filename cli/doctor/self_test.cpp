#include "doctor/self_test.h"

#include <chrono>
#include <cmath>

#include "tenfold/build.h"
#include "tenfold/engine.h"
#include "tenfold/network.h"

namespace tenfold::cli {
namespace {

constexpr int kRows = 8, kDepth = 96, kColumns = 48;
constexpr double kLargestError = 2e-3;   // of a probability: products may round their operands as TF32 does

float number(int i) { return static_cast<float>((i * 37 % 101) - 50) / 64; }

Tensor numbers(const Shape& shape, int first) {
  Tensor t(DType::f32, shape);
  for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = number(first + static_cast<int>(i));
  return t;
}

// The largest difference from softmax(max(x w, 0)) in f64.
double error_of(const Tensor& x, const Tensor& w, const Tensor& y) {
  double worst = 0;
  for (int r = 0; r < kRows; ++r) {
    double values[kColumns] = {}, sum = 0;
    for (int c = 0; c < kColumns; ++c) {
      double product = 0;
      for (int k = 0; k < kDepth; ++k) product += double{x.data<float>()[r * kDepth + k]} * double{w.data<float>()[k * kColumns + c]};
      sum += values[c] = std::exp(std::max(product, 0.0));
    }
    for (int c = 0; c < kColumns; ++c) {
      const double error = std::abs(values[c] / sum - double{y.data<float>()[r * kColumns + c]});
      worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    }
  }
  return worst;
}

}  // namespace

SelfTest self_test(const std::string& device) {
  try {
    const auto begin = std::chrono::steady_clock::now();
    const Tensor x = numbers({kRows, kDepth}, 0), w = numbers({kDepth, kColumns}, 5);
    Network net("self_test");
    NetworkTensor y = net.matrix_multiply(net.input("x", DType::f32, {kRows, kDepth}), net.constant(w, "w"));
    net.mark_output(net.softmax(net.activation(Activation::relu, y)), "y");
    BuildConfig config;
    config.device = device, config.optimization_level = 1;
    const Engine engine = build(net, config);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double error = error_of(x, w, engine.create_context()->run({x}).at(0));
    char text[160];
    std::snprintf(text, sizeof text, "a product and a softmax differ from f64 by %.1e, at most %.0e is right (built in %.2f s)", error,
                  kLargestError, seconds);
    return {error <= kLargestError, text};
  } catch (const std::exception& e) {
    return {false, e.what()};
  }
}

}  // namespace tenfold::cli
