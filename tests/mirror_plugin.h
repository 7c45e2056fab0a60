// A plug-in for tests, a model that uses it, and what that model computes.
#pragma once

#include <gtest/gtest.h>

#include <atomic>

#include "ir/text.h"
#include "ops/cases.h"
#include "runtime/plugins/plugins.h"
#include "tenfold/engine.h"

namespace tenfold::tests {

// y[batch, 2n] = x[batch, n] times a number and times minus that number, side by side.
class Mirror : public PluginOperator {
 public:
  explicit Mirror(int version = 1, bool has_fast = true) : version_(version), has_fast_(has_fast) {}
  PluginInfo info() const override {
    return {.domain = "test",
            .name = "Mirror",
            .version = version_,
            .attributes = {{"factor", 2.0f}, {"label", std::string("none")}}};
  }
  std::vector<PluginType> infer(const NetworkAttributes&, std::span<const PluginType> in) const override {
    if (in[0].dims.size() != 2) throw Error(ErrorKind::invalid_model, "Mirror takes a matrix");
    return {{in[0].dtype, {in[0].dims[0], "(" + in[0].dims[1] + ") * 2"}}};
  }
  void compute(const NetworkAttributes& attributes, std::span<const PluginTensor> in,
               std::span<const PluginTensor> out) const override {
    for (std::int64_t row = 0; row < in[0].shape[0]; ++row)
      mirror(std::get<float>(attributes.at("factor")), in[0], out[0], row);
  }
  std::string refuse(const NetworkAttributes&, std::span<const PluginType> in) const override {
    return !has_fast_ ? "it was asked not to" : in[0].dtype == DType::f32 ? "" : "it takes f32";
  }
  void fast(const NetworkAttributes& attributes, std::span<const PluginTensor> in, std::span<const PluginTensor> out,
            const PluginWorkers& workers) const noexcept override {
    ++runs;
    struct Work {
      float factor;
      PluginTensor x, y;
    } work{std::get<float>(attributes.at("factor")), in[0], out[0]};
    workers.run(
        workers.pool, in[0].shape[0],
        [](void* context, std::int64_t row) {
          const Work& w = *static_cast<Work*>(context);
          mirror(w.factor, w.x, w.y, row);
        },
        &work);
  }
  mutable std::atomic<int> runs = 0;

 private:
  static void mirror(float factor, const PluginTensor& x, const PluginTensor& y, std::int64_t row) {
    const std::int64_t n = x.shape[1];
    for (std::int64_t i = 0; i < n; ++i) {
      const float v = x.as<float>()[row * n + i] * factor;
      y.as<float>()[row * 2 * n + i] = v, y.as<float>()[row * 2 * n + n + i] = -v;
    }
  }
  int version_;
  bool has_fast_;
};

inline std::shared_ptr<Plugins> with(std::shared_ptr<const PluginOperator> op) {
  auto plugins = std::make_shared<Plugins>();
  plugins->add(std::move(op));
  return plugins;
}

inline constexpr const char* kMirrorModel = R"((x f32[batch,3], w f32[6,2]!)
  t = Relu(x)
  u = test.Mirror(t) factor=0.5
  y = MatMul(u, w))";

inline ir::Graph mirror_graph(const Plugins& plugins) {
  return ir::parse_graph(
      kMirrorModel, plugins.impl().registry,
      {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

inline void expect_right(const Engine& engine) {
  const Tensor w = ops::random_tensor(DType::f32, {6, 2}, 1), x = ops::random_tensor(DType::f32, {2, 3}, 5);
  const Tensor y = engine.create_context()->run({x})[0];
  ASSERT_EQ(y.shape(), (Shape{2, 2}));
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 2; ++c) {
      double sum = 0;
      for (int i = 0; i < 3; ++i)
        sum += std::max(0.0, x.as_double(r * 3 + i)) * 0.5 * (w.as_double(i * 2 + c) - w.as_double((i + 3) * 2 + c));
      EXPECT_NEAR(y.as_double(r * 2 + c), sum, 1e-5);
    }
}

}  // namespace tenfold::tests
