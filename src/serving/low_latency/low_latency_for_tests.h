// Engines for tests of low latency: the toy CNN with its answers in f64, and one that is slow, fails or answers NaN when told to.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tenfold/build.h"
#include "tenfold/low_latency.h"
#include "tenfold/network.h"
#include "tenfold/plugin.h"

namespace tenfold::low_latency {

// Conv1d(1, 8, 3), Conv1d(8, 16, 3), each with a Relu, then Linear(16 * 32, 2); f32[1,1,32] to f32[1,2].
class ToyCnn {
 public:
  static constexpr int kIn = 32, kFirst = 8, kSecond = 16, kOut = 2;
  explicit ToyCnn(unsigned seed = 1) : seed_(seed) {
    fill(w1_, kFirst * 3), fill(b1_, kFirst), fill(w2_, kSecond * kFirst * 3), fill(b2_, kSecond);
    fill(w3_, kOut * kSecond * kIn), fill(b3_, kOut);
  }
  Engine engine() const {
    Network net("toy_cnn");
    auto x = net.input("input", DType::f32, {1, 1, kIn});
    x = net.activation(Activation::relu, net.convolution(x, of(net, w1_, {kFirst, 1, 3}), of(net, b1_, {kFirst}), {.padding = {1}}));
    x = net.activation(Activation::relu, net.convolution(x, of(net, w2_, {kSecond, kFirst, 3}), of(net, b2_, {kSecond}), {.padding = {1}}));
    x = net.shuffle(x, {}, Shape{1, kSecond * kIn});
    x = net.elementwise(Elementwise::sum, net.matrix_multiply(x, of(net, w3_, {kOut, kSecond * kIn}), false, true), of(net, b3_, {kOut}));
    net.mark_output(x, "output");
    BuildConfig config;
    config.threads = 1, config.optimization_level = 0;
    return build(net, config);
  }
  std::vector<double> answer(const float* x) const {
    const std::vector<double> first = convolve(std::vector<double>(x, x + kIn), w1_, b1_, 1, kFirst);
    const std::vector<double> second = convolve(first, w2_, b2_, kFirst, kSecond);
    std::vector<double> y(b3_.begin(), b3_.end());
    for (std::size_t o = 0; o < y.size(); ++o)
      for (std::size_t i = 0; i < second.size(); ++i) y[o] += double(w3_[o * second.size() + i]) * second[i];
    return y;
  }
  std::vector<float> input(unsigned number) const {
    std::vector<float> x(kIn);
    for (int i = 0; i < kIn; ++i)
      x[static_cast<std::size_t>(i)] = std::sin(0.37f * static_cast<float>(number) + 0.9f * static_cast<float>(i));
    return x;
  }

 private:
  using Values = std::vector<float>;
  void fill(Values& values, int count) {
    for (int i = 0; i < count; ++i)
      seed_ = seed_ * 1664525u + 1013904223u, values.push_back(static_cast<float>(seed_ >> 8) / (1 << 24) - 0.5f);
  }
  static NetworkTensor of(Network& net, const Values& values, Shape shape) {
    Tensor t(DType::f32, std::move(shape));
    std::copy(values.begin(), values.end(), t.mutable_data<float>());
    return net.constant(t);
  }
  static std::vector<double> convolve(const std::vector<double>& x, const Values& w, const Values& b, int in, int out) {
    std::vector<double> y(static_cast<std::size_t>(out * kIn));
    for (int o = 0; o < out; ++o)
      for (int t = 0; t < kIn; ++t) {
        double sum = b[static_cast<std::size_t>(o)];
        for (int i = 0; i < in; ++i)
          for (int k = 0; k < 3; ++k)
            if (const int at = t + k - 1; at >= 0 && at < kIn)
              sum += double(w[static_cast<std::size_t>((o * in + i) * 3 + k)]) * x[static_cast<std::size_t>(i * kIn + at)];
        y[static_cast<std::size_t>(o * kIn + t)] = std::max(sum, 0.0);
      }
    return y;
  }
  unsigned seed_;
  Values w1_, b1_, w2_, b2_, w3_, b3_;
};

// y = x + 1 for f32[1,4], with what a test wants to go wrong.
class Trouble : public PluginOperator {
 public:
  struct Wish {
    std::atomic<std::int64_t> sleep_ns{0};
    std::atomic<int> sleep_every{1};  // runs
    std::vector<std::int64_t>* ended_ns = nullptr;  // when each run ended, for tests with one thread
    std::atomic<bool> fail{false}, not_a_number{false}, wrong{false};
    std::atomic<int> runs{0};
  };
  explicit Trouble(std::shared_ptr<Wish> wish) : wish_(std::move(wish)) {}
  PluginInfo info() const override { return {.domain = "test", .name = "Trouble"}; }
  std::vector<PluginType> infer(const NetworkAttributes&, std::span<const PluginType> in) const override { return {in[0]}; }
  void compute(const NetworkAttributes&, std::span<const PluginTensor> in, std::span<const PluginTensor> out) const override {
    const int run = wish_->runs++;
    if (const std::int64_t ns = wish_->sleep_ns; ns > 0 && run % wish_->sleep_every == 0)
      std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
    if (wish_->fail) throw Error(ErrorKind::device, "it was told to fail");
    const float add = wish_->not_a_number ? std::numeric_limits<float>::quiet_NaN() : wish_->wrong ? 2.0f : 1.0f;
    for (std::int64_t i = 0; i < in[0].size(); ++i) out[0].as<float>()[i] = in[0].as<float>()[i] + add;
    if (wish_->ended_ns) wish_->ended_ns->push_back(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  }

 private:
  std::shared_ptr<Wish> wish_;
};

struct Troubled {
  std::shared_ptr<Trouble::Wish> wish = std::make_shared<Trouble::Wish>();
  EngineCandidate candidate(const std::string& name) const {
    return {name, [wish = wish] {
              auto plugins = std::make_shared<Plugins>();
              plugins->add(std::make_shared<Trouble>(wish));
              Network net("trouble", plugins);
              net.mark_output(net.add_node("Trouble", {net.input("x", DType::f32, {1, 4})}, {}, 1, "", "test").at(0), "y");
              BuildConfig config;
              config.threads = 1, config.optimization_level = 0, config.plugins = plugins;
              return build(net, config);
            }};
  }
};

// Lines of a log.
class Reported {
 public:
  LogCallback callback() {
    return [this](Severity, std::string_view line) {
      const std::lock_guard lock(mutex_);
      text_.append(line).append("\n");
    };
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  bool has(const std::string& part) const { return text().find(part) != std::string::npos; }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

// Whether it comes true within ten seconds.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace tenfold::low_latency
