// Refit: a plan with other weights is, bit for bit, the plan that a fresh build of the changed model gives.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "plan/read.h"
#include "plan/write.h"
#include "runtime/engine/opened.h"

namespace tenfold {
namespace {

using Weights = std::vector<std::pair<std::string, Tensor>>;

// Small positive numbers, so that they may be variances and scales; integers use their range.
template <int kSet>
Tensor weight(DType dtype, const Shape& shape, std::uint64_t seed) {
  const bool real = is_float(dtype);
  return ops::random_tensor(dtype, shape, seed + 1000 * kSet, real ? 0.05 : -20, real ? 0.5 : 20);
}
template <int kSet>
ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = weight<kSet>});
}
Weights weights_of(const ir::Graph& graph) {
  Weights weights;
  for (const auto& v : graph.values())
    if (v->is_constant() && !v->constant->weight_name.empty()) weights.emplace_back(v->constant->weight_name, v->constant->tensor);
  return weights;
}

BuildConfig config(std::uint64_t seed = 0) {
  BuildConfig c;
  c.refittable = true, c.optimization_level = 0, c.random_choices = seed, c.threads = 2;
  return c;
}

std::vector<Tensor> run(const Engine& engine) {
  std::vector<Tensor> inputs;
  for (const BindingInfo& b : engine.bindings()) {
    if (!b.is_input) break;
    Shape shape = b.shape;
    for (std::int64_t& extent : shape) extent = extent < 0 ? 3 : extent;
    const bool real = is_float(b.dtype);
    inputs.push_back(ops::random_tensor(b.dtype, shape, 7 + inputs.size(), real ? -1 : 0, real ? 1 : b.dtype == DType::boolean ? 1 : 100));
  }
  return engine.create_context()->run(inputs);
}
bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].shape() != b[i].shape() || std::memcmp(a[i].raw(), b[i].raw(), static_cast<std::size_t>(a[i].bytes())) != 0) return false;
  return a.size() == b.size();
}

std::string tactics(const Engine& engine) {
  std::string all;
  for (const plan::Program& program : runtime::state_of(engine)->plan.programs)
    for (const plan::Step& step : program.steps) all += step.op + " " + step.tactic + "\n";
  return all;
}
std::int64_t own_bytes(const Engine& engine) {
  std::int64_t bytes = 0;
  for (const Tensor& t : runtime::state_of(engine)->plan.replaced) bytes += t.defined() ? t.bytes() : 0;
  return bytes;
}

// Every weight replaced at once, then back again; through a file as well.
void check_refit(const char* text, BuildConfig how = config()) {
  const ir::Graph first = parse<0>(text), second = parse<1>(text);
  const Engine a = builder::build_graph(first, how), b = builder::build_graph(second, how);
  const std::vector<Tensor> of_a = run(a), of_b = run(b);
  EXPECT_FALSE(same_bits(of_a, of_b)) << "the weights do not matter";
  const Engine turned = a.refit(weights_of(second));
  EXPECT_TRUE(same_bits(run(turned), of_b)) << a.inspect();
  EXPECT_TRUE(same_bits(run(a), of_a)) << "the old engine changed";
  EXPECT_TRUE(same_bits(run(turned.refit(weights_of(first))), of_a));
  const std::string saved = plan::serialize(runtime::state_of(turned)->plan);
  const Engine loaded = Engine::load(std::as_bytes(std::span(saved)));
  EXPECT_TRUE(same_bits(run(loaded), of_b));
  EXPECT_TRUE(same_bits(run(loaded.refit(weights_of(first))), of_a));
  BuildConfig plain = how;
  plain.refittable = false;
  EXPECT_EQ(tactics(builder::build_graph(first, plain)), tactics(a)) << "a refittable plan computes as any other";
}

constexpr const char* kResidual = R"((x f32[batch,3,10,10], w1 f32[8,3,3,3]!, s1 f32[8]!, b1 f32[8]!, m1 f32[8]!, v1 f32[8]!,
    w2 f32[8,8,3,3]!, c2 f32[8]!, s2 f32[8]!, b2 f32[8]!, m2 f32[8]!, v2 f32[8]!, w3 f32[5,8]!, b3 f32[5]!)
  c = Conv(x, w1) pads=[1,1,1,1]
  n = BatchNormalization(c, s1, b1, m1, v1)
  r = Relu(n)
  d = Conv(r, w2, c2) pads=[1,1,1,1]
  e = BatchNormalization(d, s2, b2, m2, v2)
  f = Add(e, r)
  g = Relu(f)
  p = GlobalAveragePool(g)
  h = Flatten(p)
  y = Gemm(h, w3, b3) transB=1 alpha=0.5)";

BuildConfig batches(std::uint64_t seed = 0) {
  BuildConfig c = config(seed);
  c.profiles = {{{"x", {{1, 3, 10, 10}, {2, 3, 10, 10}, {2, 3, 10, 10}}}}, {{"x", {{3, 3, 10, 10}, {3, 3, 10, 10}, {4, 3, 10, 10}}}}};
  return c;
}

TEST(Refit, ConvolutionsWithBatchNorm) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) check_refit(kResidual, batches(seed));
}

TEST(Refit, TransposedConvolutionAndLoneBatchNorm) {
  check_refit(R"((x f32[1,4,5,5], w f32[4,3,2,2]!, s f32[6]!, b f32[6]!, m f32[6]!, v f32[6]!)
    c = ConvTranspose(x, w) group=2 strides=[2,2]
    n = BatchNormalization(c, s, b, m, v)
    r = Relu(n)
    y = BatchNormalization(r, s, b, m, v))");
}

TEST(Refit, PerceptronWithALearnedBiasOfOne) {
  check_refit(R"((x f32[batch,16], w1 f32[16,32]!, b1 f32[32]!, g f32[32]!, h f32[32]!, w2 f32[1,32]!, b2 f32[1]!)
    t = MatMul(x, w1)
    u = Add(t, b1)
    v = Gelu(u)
    n = LayerNormalization(v, g, h)
    y = Gemm(n, w2, b2) transB=1)");
}

TEST(Refit, SharedSlicedAndBranched) {
  check_refit(R"((x f32[4,6], c bool[], w f32[6,6]!, e f32[12,6]!)
    one = i64[1]{0}
    top = i64[1]{6}
    t = MatMul(x, w)
    u = Transpose(w)
    v = MatMul(t, u)
    part = Slice(e, one, top, one)
    s = MatMul(v, part)
    y = If(c, s, w) graphs=[ (s f32[4,6], w f32[6,6])
        a = MatMul(s, w)
        return a
      (s f32[4,6], w f32[6,6])
        a = Tanh(s)
        return a ])");
}

// What lies between such weights and their packings is not kept (ops/fold.cpp).
TEST(Refit, LargeWeightsInSeveralSteps) {
  check_refit(R"((x f32[4,64], w f32[64,64]!, s f32[64]!, q f32[64,64]!, b f32[64]!)
    wide = i64[3]{1,64,64}
    flat = i64[2]{64,64}
    t = Transpose(w)
    u = Mul(t, s)
    a = MatMul(x, u)
    v = Concat(u, q) axis=1
    c = MatMul(a, v)
    e = Reshape(u, wide)
    f = Exp(e)
    g = Reshape(f, flat)
    d = MatMul(a, g)
    h = Add(d, b)
    k = Concat(c, h) axis=1
    y = Tanh(k))");
}

// As many ways lead to such a weight as there are grains of sand; each step is walked once.
TEST(Refit, ValuesThatAreUsedTwiceAtEachOfManySteps) {
  std::string text = "(x f32[4,64], w f32[64,64]!)\n half = f32[]{0.5}\n c0 = Tanh(w)\n";
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    text += " d" + n + " = Add(c" + n + ", c" + n + ")\n c" + next + " = Mul(d" + n + ", half)\n";
  }
  check_refit((text + " y = MatMul(x, c60)").c_str());
}

TEST(Refit, QuantizedWeightsPerChannel) {
  check_refit(R"((x f32[2,8,6,6], w i8[16,8,3,3]!, ws f32[16]!, bias i32[16]!, bs f32[16]!, v f32[16,8]!)
    s = f32[]{0.02}
    z = u8[]{120}
    wz = i8[16]{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    wd = DequantizeLinear(w, ws, wz) axis=0
    bd = DequantizeLinear(bias, bs) axis=0
    c = Conv(d, wd, bd) pads=[1,1,1,1]
    r = Relu(c)
    p = GlobalAveragePool(r)
    f = Flatten(p)
    y = MatMul(f, v))");
}

Weights only(const ir::Graph& graph, const std::string& name) {
  for (const auto& [n, tensor] : weights_of(graph))
    if (n == name) return {{n, tensor}};
  return {};
}

TEST(Refit, OneWeightAlone) {
  const ir::Graph first = parse<0>(kResidual), second = parse<1>(kResidual);
  const Engine engine = builder::build_graph(first, batches());
  for (const auto& [name, tensor] : weights_of(second)) {
    ir::Graph mixed = first.clone();
    for (const auto& v : mixed.values())
      if (v->name == name) v->constant = std::make_shared<ir::Constant>(ir::Constant{.tensor = tensor, .weight_name = name});
    const Engine turned = engine.refit({{name, tensor}});
    EXPECT_TRUE(same_bits(run(turned), run(builder::build_graph(mixed, batches())))) << name;
    EXPECT_LT(own_bytes(turned), engine.info().weight_bytes);
  }
}

TEST(Refit, SharesWhatDoesNotChange) {
  const Engine engine = builder::build_graph(parse<0>(kResidual), batches());
  const ir::Graph other = parse<1>(kResidual);
  EXPECT_EQ(own_bytes(engine), 0);
  EXPECT_EQ(own_bytes(engine.refit(only(other, "b3"))), 5 * 4);
  EXPECT_EQ(own_bytes(engine.refit(weights_of(parse<0>(kResidual)))), 0) << "equal values are no change";
  const Engine turned = engine.refit(only(other, "c2"));   // goes into the bias that the batch norm left
  EXPECT_EQ(own_bytes(turned), 8 * 4);
  EXPECT_EQ(runtime::state_of(turned)->plan.weights, runtime::state_of(engine)->plan.weights);
}

TEST(Refit, RunningContextsKeepTheOldWeights) {
  const Engine old = builder::build_graph(parse<0>(kResidual), batches());
  const ir::Graph second = parse<1>(kResidual);
  const std::vector<Tensor> before = run(old), after = run(old.refit(weights_of(second)));
  const std::vector<Tensor> inputs{ops::random_tensor(DType::f32, {3, 3, 10, 10}, 7, -1, 1)};
  std::atomic<int> wrong = 0, rounds = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      const auto context = old.create_context();
      while (rounds < 20) wrong += !same_bits(context->run(inputs), before);
    });
  for (; rounds < 20; ++rounds) wrong += !same_bits(old.refit(weights_of(second)).create_context()->run(inputs), after);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Refit, SurvivesRetuning) {
  const ir::Graph second = parse<1>(kResidual);
  BuildConfig exact = batches(3);
  exact.tf32 = false;   // what is packed in fewer bits is re-tuned from these
  const Engine engine = builder::build_graph(parse<0>(kResidual), exact);
  const Engine tuned = retune(engine, config(5));
  EXPECT_EQ(tuned.refittable_weights().size(), engine.refittable_weights().size());
  const std::vector<Tensor> got = run(tuned.refit(weights_of(second))), expected = run(retune(engine.refit(weights_of(second)), config(5)));
  EXPECT_TRUE(same_bits(got, expected));
}

void refused(const Engine& engine, const Weights& weights, ErrorKind kind, const char* part) {
  try {
    engine.refit(weights);
    ADD_FAILURE() << "nothing was refused, expected: " << part;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(Refit, Refusals) {
  const Engine engine = builder::build_graph(parse<0>(R"((x f32[2,6,4], weight f32[4,4]!, factor f32[]!, count i64[1]!)
    shape = i64[2]{12,4}
    t = MatMul(x, weight)
    u = Mul(t, factor)
    y = Reshape(u, shape))"),
                                             config());
  const auto square = [](double value) { return ops::random_tensor(DType::f32, {4, 4}, 3, value, value + 1); };
  refused(engine, {{"wieght", square(1)}}, ErrorKind::invalid_argument, "did you mean 'weight'");
  refused(engine, {{"weight", Tensor(DType::f32, {4, 5})}}, ErrorKind::invalid_argument, "f32[4x4] in the plan, f32[4x5] is given");
  refused(engine, {{"weight", Tensor(DType::f64, {4, 4})}}, ErrorKind::invalid_argument, "f64[4x4] is given");
  refused(engine, {{"weight", square(1)}, {"weight", square(2)}}, ErrorKind::invalid_argument, "twice");
  refused(engine, {{"factor", Tensor(DType::f32, {})}}, ErrorKind::unsupported, "built into the plan as a scalar");
  EXPECT_NO_THROW(engine.refit({{"factor", weight<0>(DType::f32, {}, 2)}})) << "its old value is no change";
  BuildConfig plain = config();
  plain.refittable = false;
  const Engine fixed = builder::build_graph(parse<0>(kResidual), plain);
  refused(fixed, only(parse<1>(kResidual), "w1"), ErrorKind::unsupported, "--refit");
  EXPECT_TRUE(fixed.refittable_weights().empty());
}

TEST(Refit, ListsWeights) {
  const Engine engine = builder::build_graph(parse<0>(kResidual), batches());
  const std::vector<WeightInfo> weights = engine.refittable_weights();
  ASSERT_EQ(weights.size(), 13u);
  EXPECT_EQ(weights[0].name, "w1");
  EXPECT_EQ(weights[0].shape, (Shape{8, 3, 3, 3}));
  for (const WeightInfo& w : weights) EXPECT_EQ(w.fixed, "") << w.name;
}

// Equal bytes of two weights are stored twice: after a refit they may differ.
TEST(Refit, EqualWeightsStayApart) {
  const char* text = R"((x f32[3,4], a f32[4,4]!, b f32[4,4]!)
    t = MatMul(x, a)
    u = Tanh(t)
    y = MatMul(u, b))";
  ir::Graph graph = parse<0>(text);
  const Tensor same = ops::random_tensor(DType::f32, {4, 4}, 3), other = ops::random_tensor(DType::f32, {4, 4}, 4);
  const auto with = [&](const Tensor& b) {
    ir::Graph copy = graph.clone();
    for (const auto& v : copy.values())
      if (v->is_constant())
        v->constant = std::make_shared<ir::Constant>(ir::Constant{.tensor = v->name == "a" ? same : b, .weight_name = v->name});
    return copy;
  };
  const Engine engine = builder::build_graph(with(same), config());
  EXPECT_TRUE(same_bits(run(engine.refit({{"b", other}})), run(builder::build_graph(with(other), config()))));
}

// Packings that round float32 cannot be undone: what does not change stays as it is, to the last bit.
TEST(Refit, RoundedWeights) {
  const char* text = R"((x f32[2,300], a f32[300,500]!, b f32[500]!, c f32[500,260]!)
    t = MatMul(x, a)
    u = Add(t, b)
    v = Tanh(u)
    y = MatMul(v, c))";
  const ir::Graph first = parse<0>(text), second = parse<1>(text);
  int tried = 0;
  for (const char* tactic : {"matmul_amx_s24", "matmul_amx_split", "matmul_gemv_s16", "matmul_gemv_f24"}) {
    SCOPED_TRACE(tactic);
    BuildConfig how = config();
    how.forced_tactics = {{"MatMul", tactic}};
    const Engine engine = builder::build_graph(first, how);
    if (tactics(engine).find(tactic) == std::string::npos) continue;   // this CPU has it not
    ++tried;
    for (const char* name : {"a", "b", "c"}) {
      const Weights one = only(second, name);
      ir::Graph mixed = first.clone();
      for (const auto& v : mixed.values())
        if (v->name == name) v->constant = std::make_shared<ir::Constant>(ir::Constant{.tensor = one[0].second, .weight_name = name});
      const Engine turned = engine.refit(one);
      EXPECT_TRUE(same_bits(run(turned), run(builder::build_graph(mixed, how)))) << name;
      EXPECT_TRUE(*name != 'b' || own_bytes(turned) == 500 * 4) << own_bytes(turned);
    }
  }
  EXPECT_GT(tried, 0);
}

// A table of recipes that lies ends in an error, never in a crash: each byte of the text changed in turn.
TEST(Refit, DamagedRecipes) {
  const Engine engine = builder::build_graph(parse<0>(kResidual), batches());
  plan::Plan& plan = const_cast<plan::Plan&>(runtime::state_of(engine)->plan);   // this test's own engine
  const std::string good = plan.refit.recipes;
  const Weights weights = weights_of(parse<1>(kResidual));
  int errors = 0;
  for (std::size_t at = 0; at < good.size(); at += 3) {
    plan.refit.recipes = good;
    plan.refit.recipes[at] = good[at] == '1' ? '7' : '1';
    try {
      engine.refit(weights);
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 20);
}

}  // namespace
}  // namespace tenfold
