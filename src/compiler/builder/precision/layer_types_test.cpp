// Types given to single layers: what the plan's steps then compute in, for a GPU on paper and on this machine's CPU.
#include <gtest/gtest.h>

#include <cmath>

#include "builder/paper_gpu_for_tests.h"
#include "plan/inspect.h"

namespace tenfold {
namespace {

using builder::testing::parse;

constexpr const char* kNet = R"((x f32[16,64], w f32[64,64]!, u f32[64,64]!, v f32[64,32]!)
    first = MatMul(x, w)
    a = Relu(first)
    second = MatMul(a, u)
    b = Softmax(second) axis=-1
    third = MatMul(b, v)
    y = Relu(third))";

BuildConfig with(std::vector<LayerPrecision> precisions, LayerConstraints constraints = LayerConstraints::obey) {
  BuildConfig config;
  config.check_overflow = false;
  config.layer_types = {constraints, std::move(precisions), {}};
  return config;
}

// The types that the steps of these products compute in, by the name of the layer.
std::map<std::string, DType> products(const BuildConfig& config, BuildReport& report) {
  BuildConfig c = config;
  c.random_choices = 7, c.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
  const plan::Plan plan = builder::build_plan(parse(kNet), c, "", std::make_shared<builder::testing::PaperGpu>(), report);
  std::map<std::string, DType> types;
  const PlanProgram program = plan::inspect_data(plan).programs.at(0);
  for (const PlanStep& s : program.steps)
    for (const std::int32_t node : s.nodes)
      if (s.op == "MatMul" || s.op == "Softmax") types[program.nodes.at(static_cast<std::size_t>(node)).name] = s.inputs.at(0).dtype;
  return types;
}
std::map<std::string, DType> products(const BuildConfig& config) {
  BuildReport report;
  return products(config, report);
}
std::string refusal(const BuildConfig& config, ErrorKind kind, bool on_cpu = false) {
  try {
    if (on_cpu) builder::build_graph(parse(kNet), config, "", nullptr);
    else products(config);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}
std::string name_of(std::size_t i) { return parse(kNet).node_list().at(i)->name; }

TEST(LayerTypes, KeepOneLayerWideInAPlanOfHalves) {
  BuildConfig config = with({{name_of(2), DType::f32}});
  config.fp16 = true;
  const auto types = products(config);
  EXPECT_EQ(types.at(name_of(0)), DType::f16);
  EXPECT_EQ(types.at(name_of(2)), DType::f32);
  EXPECT_EQ(types.at(name_of(4)), DType::f16);
}

TEST(LayerTypes, ArePermissionForTheirLayersAlone) {
  const auto types = products(with({{name_of(2), DType::f16}, {name_of(4), DType::bf16}}));
  EXPECT_EQ(types.at(name_of(0)), DType::f32);
  EXPECT_EQ(types.at(name_of(2)), DType::f16);
  EXPECT_EQ(types.at(name_of(4)), DType::bf16);
}

TEST(LayerTypes, ReachASoftmaxBetweenProducts) {
  BuildConfig config = with({{"*", DType::f16}, {name_of(3), DType::f32}});
  BuildReport report;
  EXPECT_EQ(products(config, report).at(name_of(2)), DType::f16);
  EXPECT_EQ(report.layers_by_type, (std::map<DType, int>{{DType::f32, 1}, {DType::f16, 5}}));
}

TEST(LayerTypes, ThatCannotBeHadAreRefusedOrNoted) {
  const std::string text = refusal(with({{name_of(2), DType::i8}}), ErrorKind::unsupported);
  for (const std::string& word : {name_of(2), std::string("MatMul"), std::string("f32"), std::string("i8"), std::string("a GPU on paper"),
                                  std::string("--data")})
    EXPECT_NE(text.find(word), std::string::npos) << text;
  BuildReport report;
  products(with({{name_of(2), DType::i8}}, LayerConstraints::prefer), report);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_EQ(report.notes.back().step, name_of(2));
  EXPECT_EQ(report.notes.back().kind, NoteKind::precision);
  const std::string note = report.notes.back().text;
  EXPECT_TRUE(text.starts_with(note + "; ask for another type")) << text;
}

TEST(LayerTypes, AreIgnoredWithoutConstraints) {
  EXPECT_EQ(products(with({{name_of(2), DType::f16}}, LayerConstraints::none)).at(name_of(2)), DType::f32);
}

TEST(LayerTypes, OfNodesThatAreNotThereAreRefused) {
  const std::string text = refusal(with({{name_of(2) + "x", DType::f16}}), ErrorKind::invalid_argument);
  EXPECT_NE(text.find("'" + name_of(2) + "' is near"), std::string::npos) << text;
  EXPECT_NE(refusal(with({{"a*b*c", DType::f16}}), ErrorKind::invalid_argument).find("more than one '*'"), std::string::npos);
  EXPECT_NE(refusal(with({{"nothing*", DType::f16}}), ErrorKind::invalid_argument).find("nothing*"), std::string::npos);
  EXPECT_NE(refusal(with({{name_of(2), DType::string}}), ErrorKind::invalid_argument).find("cannot have type"), std::string::npos);
}

TEST(LayerTypes, OfOutputsAreRoundedToOrRefused) {
  BuildConfig config = with({});
  config.layer_types.output_types = {{name_of(0), {DType::f16}}};
  EXPECT_EQ(products(config).at(name_of(0)), DType::f32);
  config.fp16 = true, config.layer_types.output_types = {{name_of(2), {DType::f32}}};
  EXPECT_NE(refusal(config, ErrorKind::unsupported).find("gives f16"), std::string::npos);
}

// Rounding a result to 16 bits shows in the numbers, and so does keeping it wide beside others.
TEST(LayerTypes, OfOutputsShowInResultsOfACpu) {
  const char* const net = "(x f32[4,8])\n  a = Exp(x)\n  y = Mul(a, a)";
  const auto answer = [&](std::vector<LayerOutputTypes> outputs) {
    BuildConfig config;
    config.optimization_level = 1, config.layer_types = {LayerConstraints::obey, {}, std::move(outputs)};
    const ir::Graph graph = parse(net);
    Engine engine = builder::build_graph(graph, config, "", nullptr);
    return engine.create_context()->run({ops::random_tensor(DType::f32, {4, 8}, 3)}).at(0);
  };
  const Tensor exact = answer({}), rounded = answer({{parse(net).node_list().at(0)->name, {DType::f16}}});
  const Tensor x = ops::random_tensor(DType::f32, {4, 8}, 3);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const float e = std::exp(x.data<float>()[i]);
    int exponent = 0;   // f16 has 11 significant bits
    const float digits = std::frexp(e, &exponent), half = std::ldexp(std::nearbyint(std::ldexp(digits, 11)), exponent - 11);
    EXPECT_NEAR(exact.data<float>()[i], e * e, 1e-5f * e * e);
    EXPECT_NEAR(rounded.data<float>()[i], half * half, 1e-5f * half * half);
  }
}

TEST(LayerTypes, OnACpuNameTheReason) {
  const std::string text = refusal(with({{name_of(0), DType::f16}}), ErrorKind::unsupported, true);
  EXPECT_NE(text.find("CPUs here have no fp16 arithmetic"), std::string::npos) << text;
}

}  // namespace
}  // namespace tenfold
