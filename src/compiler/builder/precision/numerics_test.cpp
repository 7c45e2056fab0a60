// Winograd, Strassen and the exponential of softmax, each switched off by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold::builder {
namespace {

ir::Graph parse(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

// What the report of a build of the graph tells of a tactic.
std::string outcome_of(const char* text, const std::string& tactic, const BuildConfig& config) {
  BuildReport report;
  build_graph(parse(text), config, "exact", &report);
  std::string reported;
  for (const StepReport& step : report.steps)
    for (const TacticReport& t : step.tried) {
      if (t.tactic == tactic && t.chosen) return "chosen";
      if (t.tactic == tactic) reported += t.verdict + "; ";
    }
  return reported;
}

constexpr const char* kConv = "(x f32[1,32,28,28], w f32[32,32,3,3]!)\n y = Conv(x, w) pads=[1,1,1,1]";
constexpr const char* kProduct = "(x f32[512,512], w f32[512,512]!)\n y = MatMul(x, w)";

TEST(ExactForms, EachAlgorithmIsOfferedUnlessItIsSwitchedOff) {
  struct Case { const char *graph, *op, *tactic, *flag; bool BuildConfig::*switched, BuildConfig::*other; };
  for (const Case& c : {Case{kConv, "Conv", "conv_winograd", "--noWinograd", &BuildConfig::winograd,
                             &BuildConfig::strassen},
                        Case{kProduct, "MatMul", "matmul_strassen", "--noStrassen", &BuildConfig::strassen,
                             &BuildConfig::winograd}}) {
    BuildConfig config;
    config.optimization_level = 1, config.forced_tactics = {{c.op, c.tactic}};
    EXPECT_EQ(outcome_of(c.graph, c.tactic, config), "chosen") << c.tactic;
    config.forced_tactics.clear(), config.*c.switched = false;
    EXPECT_NE(outcome_of(c.graph, c.tactic, config).find(c.flag), std::string::npos) << c.tactic;
    config.*c.switched = true, config.*c.other = false, config.forced_tactics = {{c.op, c.tactic}};
    EXPECT_EQ(outcome_of(c.graph, c.tactic, config), "chosen") << c.tactic << " while the other one is switched off";
  }
}

TEST(ExactForms, ConvolutionsAndGemmsHaveTheirOwnPermission) {
  struct Case {
    const char *graph, *op, *tactic;
    bool BuildConfig::*own, BuildConfig::*other;
  };
  for (const Case& c : {Case{kConv, "Conv", "conv_winograd", &BuildConfig::tf32_convolutions, &BuildConfig::tf32_matmul},
                        Case{kProduct, "MatMul", "matmul_strassen", &BuildConfig::tf32_matmul, &BuildConfig::tf32_convolutions}}) {
    BuildConfig config;
    config.optimization_level = 1, config.*c.own = false;
    EXPECT_NE(outcome_of(c.graph, c.tactic, config).find("tf32_convolutions"), std::string::npos) << c.tactic;
    config.*c.own = true, config.*c.other = false, config.forced_tactics = {{c.op, c.tactic}};
    EXPECT_EQ(outcome_of(c.graph, c.tactic, config), "chosen") << c.tactic;
    config.tf32 = false, config.forced_tactics.clear();
    EXPECT_NE(outcome_of(c.graph, c.tactic, config).find("tf32_convolutions"), std::string::npos) << c.tactic;
  }
}

std::vector<float> softmax(bool fast_exp, const char* text, const std::vector<float>& x) {
  BuildConfig config;
  config.optimization_level = 1, config.fast_exp = fast_exp;
  const Engine engine = build_graph(parse(text), config);
  const auto context = engine.create_context();
  std::copy(x.begin(), x.end(), static_cast<float*>(context->own_memory(engine.binding_index("x"))));
  const auto* const y = static_cast<const float*>(context->own_memory(engine.binding_index("y")));
  EXPECT_TRUE(context->run());
  return {y, y + x.size()};
}

TEST(ExactForms, SoftmaxWithoutTheFastExponentialIsAnotherKernelAndRight) {
  std::vector<float> x(333);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 9;
  double sum = 0;
  for (const float v : x) sum += std::exp(static_cast<double>(v));
  for (const char* graph : {"(x f32[1,333])\n y = Softmax(x)", "(x f32[333,1,1])\n y = Softmax(x) axis=0"}) {
    const std::vector<float> exact = softmax(false, graph, x);
    EXPECT_NE(exact, softmax(true, graph, x)) << graph;
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(exact[i] / (std::exp(static_cast<double>(x[i])) / sum), 1, 2e-6) << graph << i;
  }
}

constexpr const char* kAttention = R"((q f32[2,7,16], k f32[2,16,9], v f32[2,9,16])
    s = MatMul(q, k)
    p = Softmax(s)
    y = MatMul(p, v))";

TEST(ExactForms, AttentionIsNotFusedWithoutTheFastExponential) {
  const auto ops = [&](bool fast_exp) {
    BuildConfig config;
    config.optimization_level = 1, config.fast_exp = fast_exp;
    BuildReport report;
    build_graph(parse(kAttention), config, "attention", &report);
    std::string lines;
    for (const StepReport& step : report.steps) lines += step.problem + "\n";
    return lines;
  };
  EXPECT_NE(ops(true).find("FusedAttention"), std::string::npos) << ops(true);
  EXPECT_EQ(ops(false).find("FusedAttention"), std::string::npos) << ops(false);
  EXPECT_NE(ops(false).find("Softmax"), std::string::npos) << ops(false);
  EXPECT_EQ(ops(false).find("fast_exp"), std::string::npos) << ops(false);
}

// Heads in three dims on quantized operands: once quantization has settled, a Reshape sinks past the product and past the Softmax.
constexpr const char* kQuantizedHeads = R"((q f32[2,3,40,16], k f32[2,3,16,30])
    s = f32[]{0.01}
    z = i8[]{0}
    a = i64[3]{6,40,16}
    b = i64[3]{6,16,30}
    qr = Reshape(q, a)
    qq = QuantizeLinear(qr, s, z)
    qd = DequantizeLinear(qq, s, z)
    kr = Reshape(k, b)
    kq = QuantizeLinear(kr, s, z)
    kd = DequantizeLinear(kq, s, z)
    p = MatMul(qd, kd)
    y = Softmax(p))";
// Weights alone are quantized: the normalization finds a constant only once quantization has settled.
constexpr const char* kQuantizedWeights = R"((x f32[1,16,20,20], w i8[16,16,3,3]!, g f32[16]!, b f32[16]!, m f32[16]!)
    s = f32[]{0.01}
    z = i8[]{0}
    v = f32[16]{1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}
    d = DequantizeLinear(w, s, z)
    c = Conv(x, d) pads=[1,1,1,1]
    y = BatchNormalization(c, g, b, m, v))";

TEST(ExactForms, PermissionOutlivesThePassesAfterIt) {
  const auto problem = [](const char* graph, const std::string& op, bool leave) {
    BuildConfig config;
    config.optimization_level = 1, config.fast_exp = config.winograd = config.strassen = leave, config.tf32 = leave;
    BuildReport report;
    build_graph(parse(graph), config, "leave", &report);
    std::string all;
    for (const StepReport& step : report.steps)
      if (step.problem.starts_with(op)) return step.problem;
      else all += step.problem + "\n";
    return "no " + op + ": " + all;
  };
  EXPECT_NE(problem(kQuantizedHeads, "Softmax f32[2,3,40,30]", true).find("fast_exp=1"), std::string::npos)
      << problem(kQuantizedHeads, "Softmax", true);
  EXPECT_EQ(problem(kQuantizedHeads, "Softmax f32[2,3,40,30]", false).find("fast_exp"), std::string::npos);
  EXPECT_EQ(problem(kQuantizedHeads, "Softmax f32[2,3,40,30]", false).find("no "), std::string::npos);
  const std::string conv = problem(kQuantizedWeights, "Conv", true);
  EXPECT_NE(conv.find("round_to=tf32,winograd=1"), std::string::npos) << conv;
  EXPECT_EQ(problem(kQuantizedWeights, "Conv", false).find("numerics"), std::string::npos);
}

TEST(ExactForms, RetuningKeepsWhatWasSwitchedOffAndSwitchesOffMore) {
  BuildConfig config, without;
  config.optimization_level = without.optimization_level = 1, config.forced_tactics = {{"MatMul", "matmul_strassen"}};
  without.strassen = false;
  const Engine plain = build_graph(parse(kProduct), config), exact = build_graph(parse(kProduct), without);
  ASSERT_NE(plain.inspect().find("matmul_strassen"), std::string::npos) << plain.inspect();
  EXPECT_EQ(retune(plain, without).inspect().find("matmul_strassen"), std::string::npos);
  config.forced_tactics.clear();
  BuildReport report;
  retune(exact, config, &report);
  ASSERT_FALSE(report.steps.empty());
  EXPECT_EQ(report.steps[0].problem.find("strassen"), std::string::npos) << report.steps[0].problem;
}

TEST(ExactForms, SaysWhereAttentionStaysFused) {
  std::string warnings;
  BuildConfig config;
  config.optimization_level = 1, config.fast_exp = false;
  config.log = [&](Severity severity, std::string_view text) { warnings += severity == Severity::warning ? text : ""; };
  build_graph(parse("(q f32[1,2,7,8], k f32[1,2,9,8], v f32[1,2,9,8])\n y = FusedAttention(q, k, v) scale=0.5"), config);
  EXPECT_NE(warnings.find("--noFastExp"), std::string::npos) << warnings;
  warnings.clear(), config.fast_exp = true;
  const Engine fused = build_graph(parse(kAttention), config);
  EXPECT_EQ(warnings, "");
  config.fast_exp = false;
  build_graph(parse(kAttention), config);
  EXPECT_EQ(warnings, "");
  config.pack_tokens = PackTokens::where_equal;
  build_graph(parse(kAttention), config);
  EXPECT_NE(warnings.find("not packed: that needs fused attention"), std::string::npos) << warnings;
  warnings.clear(), config.pack_tokens = PackTokens::no;
  retune(fused, config);
  EXPECT_NE(warnings.find("--noFastExp"), std::string::npos) << warnings;
}

}  // namespace
}  // namespace tenfold::builder
