// For tests of windows that slide by one row: a stack of LSTMs, a causal convolution, and streams of rows.
#pragma once

#include "low_latency/low_latency_for_tests.h"

namespace tenfold::low_latency {

// Random weights between -1/2 and 1/2.
class RandomWeights {
 public:
  NetworkTensor operator()(Network& net, const Shape& shape) {
    Tensor t(DType::f32, shape);
    for (std::int64_t i = 0; i < t.size(); ++i)
      seed_ = seed_ * 1664525u + 1013904223u, t.mutable_data<float>()[i] = static_cast<float>(seed_ >> 8) / (1 << 24) - 0.5f;
    return net.constant(t);
  }

 private:
  unsigned seed_ = 5;
};

inline BuildConfig sliding_config(const std::string& newest_row) {
  BuildConfig config;
  config.threads = 1, config.optimization_level = 0, config.tf32 = false, config.newest_row = newest_row;
  return config;
}

// f32[1,12,6] to f32[1,8]: two LSTMs of 8 units, the last row's state.
struct SlidingLstm {
  static constexpr int kRows = 12, kFeatures = 6, kUnits = 8, kWindow = kRows * kFeatures;
  static Engine engine(const std::string& newest_row) {
    Network net("sliding_lstm");
    RandomWeights weights;
    NetworkTensor x = net.shuffle(net.input("x", DType::f32, {1, kRows, kFeatures}), {1, 0, 2});
    for (int layer = 0, width = kFeatures; layer < 2; ++layer, width = kUnits) {
      const auto w = weights(net, {1, 4 * kUnits, width}), r = weights(net, {1, 4 * kUnits, kUnits}), b = weights(net, {1, 8 * kUnits});
      x = net.add_node("LSTM", {x, w, r, b}, {{"hidden_size", std::int64_t{kUnits}}}).at(0);
      x = net.shuffle(x, {}, Shape{kRows, 1, kUnits});
    }
    net.mark_output(net.shuffle(net.slice(x, {kRows - 1, 0, 0}, {1, 1, kUnits}), {}, Shape{1, kUnits}), "y");
    return build(net, sliding_config(newest_row));
  }
};

// f32[1,3,16] to f32[1,4,1]: the last column of two causal convolutions. Rows lie along axis 2, not one behind the other.
struct SlidingConvolutions {
  static constexpr int kChannels = 3, kRows = 16;
  static Engine engine(const std::string& newest_row) {
    Network net("sliding_convolutions");
    RandomWeights weights;
    NetworkTensor x = net.input("x", DType::f32, {1, kChannels, kRows});
    for (const int in : {kChannels, 4}) {
      const std::vector<std::int64_t> pads = {2, 0};
      x = net.activation(Activation::relu, net.add_node("Conv", {x, weights(net, {4, in, 3})}, {{"pads", pads}}).at(0));
    }
    net.mark_output(net.slice(x, {0, 0, kRows - 1}, {1, 4, 1}), "y");
    return build(net, sliding_config(newest_row));
  }
};

// Rows without end; row `n` always has the same values.
inline std::vector<float> sliding_window(unsigned stream, std::int64_t first_row) {
  std::vector<float> window(SlidingLstm::kWindow);
  for (int i = 0; i < SlidingLstm::kWindow; ++i)
    window[static_cast<std::size_t>(i)] =
        std::sin(1.7f * static_cast<float>(first_row * SlidingLstm::kFeatures + i) + 0.3f * static_cast<float>(stream));
  return window;
}

}  // namespace tenfold::low_latency
