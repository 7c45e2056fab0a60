// Plug-ins: an operator from outside through building, tuning, saving, loading and refitting.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "plan/write.h"
#include "runtime/plugins.h"
#include "runtime/state.h"

namespace tenfold {
namespace {

// y[batch, 2n] = x[batch, n] times a number and times minus that number, side by side.
class Mirror : public PluginOperator {
 public:
  explicit Mirror(int version = 1, bool has_fast = true) : version_(version), has_fast_(has_fast) {}
  PluginInfo info() const override {
    return {.domain = "test", .name = "Mirror", .version = version_, .attributes = {{"factor", 2.0f}, {"label", std::string("none")}}};
  }
  std::vector<PluginType> infer(const NetworkAttributes&, std::span<const PluginType> in) const override {
    if (in[0].dims.size() != 2) throw Error(ErrorKind::invalid_model, "Mirror takes a matrix");
    return {{in[0].dtype, {in[0].dims[0], "(" + in[0].dims[1] + ") * 2"}}};
  }
  void compute(const NetworkAttributes& attributes, std::span<const PluginTensor> in, std::span<const PluginTensor> out) const override {
    for (std::int64_t row = 0; row < in[0].shape[0]; ++row) mirror(std::get<float>(attributes.at("factor")), in[0], out[0], row);
  }
  std::string refuse(const NetworkAttributes&, std::span<const PluginType> in) const override {
    return !has_fast_ ? "it was asked not to" : in[0].dtype == DType::f32 ? "" : "it takes f32";
  }
  void fast(const NetworkAttributes& attributes, std::span<const PluginTensor> in, std::span<const PluginTensor> out,
            const PluginWorkers& workers) const noexcept override {
    ++runs;
    struct Work { float factor; PluginTensor x, y; } work{std::get<float>(attributes.at("factor")), in[0], out[0]};
    workers.run(workers.pool, in[0].shape[0], [](void* context, std::int64_t row) {
      const Work& w = *static_cast<Work*>(context);
      mirror(w.factor, w.x, w.y, row);
    }, &work);
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

std::shared_ptr<Plugins> with(std::shared_ptr<const PluginOperator> op) {
  auto plugins = std::make_shared<Plugins>();
  plugins->add(std::move(op));
  return plugins;
}

constexpr const char* kModel = R"((x f32[batch,3], w f32[6,2]!)
  t = Relu(x)
  u = test.Mirror(t) factor=0.5
  y = MatMul(u, w))";

Engine make(const std::shared_ptr<const Plugins>& plugins, bool refittable = false) {
  BuildConfig config;
  config.plugins = plugins, config.optimization_level = 1, config.refittable = refittable;
  config.profiles = {{{"x", {{1, 3}, {2, 3}, {4, 3}}}}};
  const ir::Graph graph =
      ir::parse_graph(kModel, plugins->impl().registry,
                      {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
  return builder::build_graph(graph, config);
}

void expect_right(const Engine& engine) {
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

TEST(Plugin, FastAndPlainKernelsAndAPlan) {
  for (const bool has_fast : {true, false}) {
    const auto op = std::make_shared<Mirror>(1, has_fast);
    const auto plugins = with(op);
    const Engine engine = make(plugins);
    op->runs = 0;
    expect_right(engine);
    EXPECT_EQ(op->runs > 0, has_fast);
    const std::string plan = plan::serialize(engine.state()->plan);
    expect_right(Engine::load(std::as_bytes(std::span(plan)), {.plugins = plugins}));
  }
}

void refused(const std::string& plan, const std::shared_ptr<const Plugins>& plugins, const char* part) {
  try {
    Engine::load(std::as_bytes(std::span(plan)), {.plugins = plugins});
    ADD_FAILURE() << "nothing was refused, expected: " << part;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::plan_refused) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(Plugin, LoadingNamesWhatIsMissing) {
  const std::string plan = plan::serialize(make(with(std::make_shared<Mirror>())).state()->plan);
  refused(plan, nullptr, "'test.Mirror', which a plug-in has to give");
  refused(plan, with(std::make_shared<Mirror>(2)), "plug-in 'test.Mirror' is version 2 here, version 1");
}

TEST(Plugin, TheEngineKeepsItAlive) {
  std::weak_ptr<const Mirror> seen;
  {
    auto op = std::make_shared<Mirror>();
    seen = op;
    const Engine engine = make(with(std::move(op)));
    EXPECT_FALSE(seen.expired());
    expect_right(engine);
  }
  EXPECT_TRUE(seen.expired());
}

TEST(Plugin, RefitAndRetuneGoOn) {
  const auto plugins = with(std::make_shared<Mirror>());
  const Engine engine = make(plugins, true);
  ASSERT_EQ(engine.refittable_weights().size(), 1u);
  const Engine zero = engine.refit({{"w", Tensor(DType::f32, {6, 2})}});
  EXPECT_EQ(zero.create_context()->run({ops::random_tensor(DType::f32, {1, 3}, 5)})[0].as_double(0), 0);
  BuildConfig config;
  config.plugins = plugins;
  expect_right(retune(engine, config));
}

TEST(Plugin, Refusals) {
  Plugins plugins;
  plugins.add(std::make_shared<Mirror>());
  EXPECT_THROW(plugins.add(std::make_shared<Mirror>()), Error);
  EXPECT_THROW(plugins.add(nullptr), Error);
}

}  // namespace
}  // namespace tenfold
