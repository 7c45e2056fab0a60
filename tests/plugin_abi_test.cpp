// The C interface of plug-ins from inside one process: tactics with state, workspace, configurations and layouts; sizes
// that only the run knows; graphs; what a table may not say.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "plan/write.h"
#include "runtime/engine/opened.h"
#include "runtime/plugins/plugins.h"
#include "table_plugin.h"
#include "tenfold/build.h"

namespace tenfold {
namespace {

using tests::TablePlugin;

Engine build_with(const std::shared_ptr<const Plugins>& plugins, const char* text, std::uint64_t random_choices = 0,
                  int level = 1) {
  BuildConfig config;
  config.plugins = plugins, config.optimization_level = level, config.random_choices = random_choices,
  config.threads = 2;
  const ir::Graph graph = ir::parse_graph(
      text, plugins->impl().registry,
      {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
  for (const ir::Value* v : graph.inputs) {
    OptimizationProfile::mapped_type range;
    for (ir::Dim d : v->dims()) {
      const std::int64_t n = d.is_constant() ? d.constant() : 0;
      range.min.push_back(n ? n : 1), range.opt.push_back(n ? n : 4), range.max.push_back(n ? n : 8);
    }
    if (config.profiles.empty()) config.profiles.emplace_back();
    config.profiles[0][v->name] = range;
  }
  return builder::build_graph(graph, config);
}

void expect_doubled(const Tensor& y, const Tensor& x, double factor) {
  ASSERT_EQ(y.size(), x.size());
  for (std::int64_t i = 0; i < x.size(); ++i)
    EXPECT_FLOAT_EQ(static_cast<float>(y.as_double(i)), static_cast<float>(x.as_double(i) * factor));
}

TEST(PluginAbi, OneStateForEachNodeOfEachContextAndNoneIsLeft) {
  TablePlugin plugin;
  {
    const auto plugins = plugin.add();
    const Engine engine =
        build_with(plugins, "(x f32[batch,3])\n a = test.Scale(x) factor=2.0\n y = test.Scale(a) factor=3.0");
    EXPECT_EQ(plugin.open - plugin.closed, 2) << "the engine's, which its first context takes";
    const auto first = engine.create_context();
    EXPECT_EQ(plugin.open - plugin.closed, 2);
    const auto second = engine.create_context();
    EXPECT_EQ(plugin.open - plugin.closed, 4);
    const Tensor x = ops::random_tensor(DType::f32, {5, 3}, 1);
    plugin.runs = 0, plugin.states_that_ran.clear();
    expect_doubled(first->run({x})[0], x, 6);
    expect_doubled(second->run({x})[0], x, 6);
    EXPECT_EQ(plugin.runs, 4);
    EXPECT_EQ(plugin.states_that_ran.size(), 4u);
  }
  EXPECT_EQ(plugin.open, plugin.closed);
  EXPECT_EQ(plugin.released, 1);
}

TEST(PluginAbi, ATacticThatFailsWhenItIsTimedIsNotTaken) {
  TablePlugin plugin;
  plugin.fails_with = "not today";
  const Engine engine = build_with(plugin.add(), "(x f32[batch,3])\n y = test.Scale(x) factor=2.0");
  EXPECT_GE(plugin.runs, 1);
  EXPECT_NE(runtime::state_of(engine)->plan.programs[0].steps[0].tactic, "plugin test.Scale table");
  const Tensor x = ops::random_tensor(DType::f32, {5, 3}, 1);
  expect_doubled(engine.create_context()->run({x})[0], x, 2);
}

TEST(PluginAbi, WorkspaceIsAsLargeAsTheExpressionAndStaysInTheArena) {
  TablePlugin plugin;
  plugin.workspace = "4*batch*3";
  const Engine engine = build_with(plugin.add(), "(x f32[batch,3])\n y = test.Scale(x) factor=2.0");
  EXPECT_GE(engine.info().arena_bytes, 4 * 8 * 3);
  const Tensor x = ops::random_tensor(DType::f32, {8, 3}, 1);
  expect_doubled(engine.create_context()->run({x})[0], x, 2);
  EXPECT_NE(plugin.last_workspace, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plugin.last_workspace) % 64, 0u);
}

TEST(PluginAbi, ConfigurationsAreThoseOfferedAndPlansMayHoldNoOthers) {
  TablePlugin plugin;
  plugin.configs = {{8}, {16}};
  const auto plugins = plugin.add();
  const Engine engine = build_with(plugins, "(x f32[batch,3])\n y = test.Scale(x)");
  const plan::Step& step = runtime::state_of(engine)->plan.programs[0].steps[0];
  EXPECT_EQ(step.tactic, "plugin test.Scale table");
  EXPECT_TRUE(step.config == backends::Config{8} || step.config == backends::Config{16});
  plan::Plan other = runtime::state_of(engine)->plan;
  other.programs[0].steps[0].config = {9};
  const std::string bytes = plan::serialize(other);
  try {
    Engine::load(std::as_bytes(std::span(bytes)), {.plugins = plugins});
    ADD_FAILURE() << "a configuration that nobody offered was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::plan_refused);
    EXPECT_NE(std::string(e.what()).find("does not offer this configuration"), std::string::npos) << e.what();
  }
}

// Whatever layouts the tuner settles on, the answer is the same.
TEST(PluginAbi, ChannelsLastOperandsComeWithTheirStrides) {
  TablePlugin plugin;
  plugin.channels_last = true;
  const auto plugins = plugin.add();
  constexpr const char* kText = R"((x f32[1,16,6,6], w f32[16,16,3,3]!, v f32[16,16,3,3]!)
    a = Conv(x, w) pads=[1,1,1,1]
    b = test.Scale(a) factor=2.0
    y = Conv(b, v) pads=[1,1,1,1])";
  const Tensor x = ops::random_tensor(DType::f32, {1, 16, 6, 6}, 3);
  const ir::Graph graph = ir::parse_graph(
      kText, plugins->impl().registry,
      {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
  const Tensor expected = std::get<Tensor>(ops::run_graph(graph, {x}).at(0));
  int last = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    plugin.saw_channels_last = false;
    const Tensor got = build_with(plugins, kText, seed).create_context()->run({x})[0];
    last += plugin.saw_channels_last;
    for (std::int64_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(got.as_double(i), expected.as_double(i), 1e-3);
  }
  EXPECT_GT(last, 0) << "no choice was channels-last: nothing was tested";
}

TEST(PluginAbi, AResultMayTakeItsOperandsMemory) {
  constexpr const char* kText = R"((x f32[64,256], w f32[256,256]!, v f32[256,8]!)
    a = MatMul(x, w)
    b = test.Scale(a) factor=2.0
    y = MatMul(b, v))";
  TablePlugin apart, in_place;
  in_place.in_place = true;
  std::vector<Tensor> results;
  for (TablePlugin* plugin : {&apart, &in_place}) {
    const Engine engine = build_with(plugin->add(), kText, 0, 0);
    plugin->runs = 0;
    results.push_back(engine.create_context()->run({ops::random_tensor(DType::f32, {64, 256}, 1)})[0]);
    EXPECT_EQ(plugin->runs, 1);
    EXPECT_EQ(plugin->last_data[0] == plugin->last_data[1], plugin == &in_place) << engine.inspect(1);
  }
  for (std::int64_t i = 0; i < results[0].size(); ++i) ASSERT_EQ(results[1].as_double(i), results[0].as_double(i));
}

TEST(PluginAbi, AFailingRunIsToldByTheNamesOfStepAndPluginWithItsOwnWords) {
  TablePlugin plugin;
  const Engine engine = build_with(plugin.add(), "(x f32[batch,3])\n y = test.Scale(x)");
  const auto context = engine.create_context();
  plugin.fails_with = "the moon is full";
  try {
    context->run({ops::random_tensor(DType::f32, {2, 3}, 1)});
    ADD_FAILURE() << "it ran";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("plug-in 'test.Scale': the moon is full"), std::string::npos) << e.what();
  }
  plugin.fails_with = "";
  EXPECT_NO_THROW(context->run({ops::random_tensor(DType::f32, {2, 3}, 1)}));
}

// y: the elements of x above 0.
class Positive : public PluginOperator {
 public:
  PluginInfo info() const override {
    return {.domain = "test", .name = "Positive", .attributes = {{"beyond", std::int64_t{0}}}};
  }
  std::vector<PluginType> infer(const NetworkAttributes&, std::span<const PluginType> in) const override {
    return {{in[0].dtype, {"found <= " + in[0].dims[0]}}};
  }
  void compute(const NetworkAttributes& attributes, std::span<const PluginTensor> in,
               std::span<const PluginTensor> out) const override {
    if (std::get<std::int64_t>(attributes.at("beyond"))) return void(out[0].actual[0] = in[0].size() + 2);
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < in[0].size(); ++i)
      if (in[0].as<float>()[i] > 0) out[0].as<float>()[n++] = in[0].as<float>()[i];
    out[0].actual[0] = n;
  }
};

TEST(PluginAbi, SizesThatOnlyTheRunKnowsReachWhatReadsThem) {
  const auto plugins = std::make_shared<Plugins>();
  plugins->add(std::make_shared<Positive>());
  const Engine engine = build_with(plugins, "(x f32[n])\n p = test.Positive(x)\n e = Exp(p)\n y = Neg(e)");
  const auto context = engine.create_context();
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Tensor x = ops::random_tensor(DType::f32, {7}, seed);
    std::vector<double> expected;
    for (std::int64_t i = 0; i < 7; ++i)
      if (x.as_double(i) > 0) expected.push_back(-std::exp(x.as_double(i)));
    const Tensor y = context->run({x})[0];
    ASSERT_EQ(y.shape(), Shape{static_cast<std::int64_t>(expected.size())});
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(y.as_double(static_cast<std::int64_t>(i)), expected[i], 1e-5);
  }
}

TEST(PluginAbi, ASizeBeyondItsBoundIsRefused) {
  const auto plugins = std::make_shared<Plugins>();
  plugins->add(std::make_shared<Positive>());
  const Engine engine = build_with(plugins, "(x f32[n])\n p = test.Positive(x) beyond=1\n y = Neg(p)");
  try {
    engine.create_context()->run({ops::random_tensor(DType::f32, {7}, 1)});
    ADD_FAILURE() << "it ran";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("gives extent 0 of result 0 as 9, at most 8 may be"), std::string::npos)
        << e.what();
  }
}

class Squash : public PluginGraph {
 public:
  PluginInfo info() const override { return {.domain = "test", .name = "Squash", .attributes = {{"scale", 1.0f}}}; }
  std::string expand(const NetworkAttributes&, std::span<const PluginType>) const override {
    return "one = f32[]{1}\nscale = f32[]{$scale}\na = Abs(in0)\nd = Add(a, one)\nq = Div(in0, d)\ny = Mul(q, "
           "scale)\nreturn y";
  }
};

// x / (1 + |x|) times a half between two other operators: one step in all, as where the model writes it out.
TEST(PluginAbi, AGraphFusesWithItsNeighbors) {
  const auto plugins = std::make_shared<Plugins>();
  plugins->add(std::make_shared<Squash>());
  const Engine engine =
      build_with(plugins, "(x f32[batch,6])\n r = Relu(x)\n s = test.Squash(r) scale=0.5\n y = Neg(s)", 0, 0);
  const Engine written = build_with(plugins, R"((x f32[batch,6])
    one = f32[]{1}
    half = f32[]{0.5}
    r = Relu(x)
    a = Abs(r)
    d = Add(a, one)
    q = Div(r, d)
    s = Mul(q, half)
    y = Neg(s))", 0, 0);
  EXPECT_EQ(engine.info().steps, written.info().steps) << engine.inspect(1);
  EXPECT_EQ(engine.info().steps, 1) << engine.inspect(1);
  const Tensor x = ops::random_tensor(DType::f32, {3, 6}, 1);
  const Tensor y = engine.create_context()->run({x})[0];
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double r = std::max(0.0, x.as_double(i));
    EXPECT_NEAR(y.as_double(i), -0.5 * r / (1 + r), 1e-6);
  }
}

// The plan holds no trace of it.
TEST(PluginAbi, APlanOfAGraphNeedsNoPlugin) {
  const auto plugins = std::make_shared<Plugins>();
  plugins->add(std::make_shared<Squash>());
  const Engine engine = build_with(plugins, "(x f32[batch,6])\n y = test.Squash(x)");
  const std::string bytes = plan::serialize(runtime::state_of(engine)->plan);
  const Tensor x = ops::random_tensor(DType::f32, {3, 6}, 1);
  const Tensor y = Engine::load(std::as_bytes(std::span(bytes))).create_context()->run({x})[0];
  for (std::int64_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(y.as_double(i), x.as_double(i) / (1 + std::fabs(x.as_double(i))), 1e-6);
}

TEST(PluginAbi, NetworksKnowOtherDomainsAndPlugins) {
  TablePlugin plugin;
  Network net("scaled", plugin.add());
  const NetworkTensor x = net.input("x", DType::f32, {"batch", 3});
  net.mark_output(net.add_node("Scale", {x}, {{"factor", 4.0f}}, 1, "", "test")[0], "y");
  BuildConfig config;
  config.profiles = {{{"x", {{1, 3}, {2, 3}, {4, 3}}}}};
  const Tensor in = ops::random_tensor(DType::f32, {2, 3}, 1);
  expect_doubled(build(net, config).create_context()->run({in})[0], in, 4);
  Network plain;
  const NetworkTensor b = plain.constant(Tensor(DType::f32, {3}));
  EXPECT_NO_THROW(plain.add_node("BiasGelu", {plain.input("x", DType::f32, {2, 3}), b}, {}, 1, "", "com.microsoft"));
  EXPECT_THROW(plain.add_node("Scale", {b}, {}, 1, "", "test"), Error);
}

}  // namespace
}  // namespace tenfold
