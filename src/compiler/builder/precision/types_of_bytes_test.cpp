// Calibrations that permit e4m3, integers or both, and samples of other profiles.
#include <gtest/gtest.h>

#include <algorithm>

#include "builder/paper_gpu_for_tests.h"
#include "builder/rebuild/kept_model.h"

namespace tenfold {
namespace {

constexpr const char* kNet = R"((x f32[32,64])
  v = constant f32[64,64]
  w = constant f32[64,32]
  a = MatMul(x, v)
  r = Relu(a)
  y = MatMul(r, w))";

std::optional<InputSet> sample(int index) {
  if (index >= 60) return {};
  return InputSet{{"x", ops::random_tensor(DType::f32, {32, 64}, static_cast<std::uint64_t>(index) + 1)}};
}
BuildConfig calibrated_to(std::vector<DType> types) {
  BuildConfig config;
  config.optimization_level = 0;
  config.calibration = Calibration{.sample = sample, .types = std::move(types)};
  return config;
}

struct Products { int integers = 0, float8 = 0; };
Products products_of(const plan::Plan& plan) {
  Products found;
  for (const plan::Step& s : plan.programs[0].steps) found.integers += s.op == "MatMulInteger", found.float8 += s.op == "MatMulFloat8";
  return found;
}
bool has_note(const BuildReport& report, std::string_view text) {
  return std::any_of(report.notes.begin(), report.notes.end(), [&](const Note& n) { return n.text.find(text) != std::string::npos; });
}
ErrorKind refusal(const BuildConfig& config, std::string_view words) {
  try {
    builder::build_graph(builder::testing::parse(kNet), config, "");
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    return e.kind();
  }
  ADD_FAILURE() << "nothing was refused";
  return ErrorKind::internal;
}

TEST(TypesOfBytes, AGpuMultipliesWhatTheCalibrationSays) {
  const Products floats = products_of(builder::testing::plan_of(kNet, calibrated_to({DType::f8e4m3fn})));
  EXPECT_EQ(floats.float8, 2);
  EXPECT_EQ(floats.integers, 0);
  const Products first = products_of(builder::testing::plan_of(kNet, calibrated_to({DType::i8, DType::f8e4m3fn})));
  EXPECT_EQ(first.integers, 2) << "without a budget all have the first";
  EXPECT_EQ(first.float8, 0);
}

TEST(TypesOfBytes, ALayerMayHaveTheOther) {
  for (const DType usual : {DType::i8, DType::f8e4m3fn}) {
    BuildConfig config = calibrated_to({usual});
    const DType other = usual == DType::i8 ? DType::f8e4m3fn : DType::i8;
    ir::Graph graph = builder::testing::parse(kNet);
    const std::string layer = graph.node_list().at(0)->name;
    config.layer_types = {LayerConstraints::obey, {{layer, other}}, {}};
    config.random_choices = 7, config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native);
    BuildReport report;
    const plan::Plan plan = builder::build_plan(graph, config, "", std::make_shared<builder::testing::PaperGpu>(), report);
    EXPECT_EQ(products_of(plan).integers, 1) << name(usual);
    EXPECT_EQ(products_of(plan).float8, 1) << name(usual);
  }
}

TEST(TypesOfBytes, RowsAsTheyRunInE4m3) {
  BuildConfig config = calibrated_to({DType::f8e4m3fn});
  config.calibration->method = "dynamic";
  EXPECT_EQ(products_of(builder::testing::plan_of(kNet, config)).float8, 2);
}

TEST(TypesOfBytes, ACpuHasNoE4m3AndSaysSo) {
  BuildReport report;
  builder::build_graph(builder::testing::parse(kNet), calibrated_to({DType::f8e4m3fn}), "", &report);
  EXPECT_TRUE(has_note(report, "fp8 was allowed"));
  EXPECT_EQ(report.layers_by_type.count(DType::i8), 0u);
  BuildReport both;
  builder::build_graph(builder::testing::parse(kNet), calibrated_to({DType::f8e4m3fn, DType::i8}), "", &both);
  EXPECT_EQ(both.layers_by_type.at(DType::i8), 2) << "the next that it multiplies";
}

TEST(TypesOfBytes, APlanThatKeepsItsModelKeepsThem) {
  for (const std::vector<DType>& types : {std::vector{DType::f8e4m3fn}, std::vector{DType::i8, DType::f8e4m3fn}}) {
    BuildConfig config = calibrated_to(types);
    config.version_compatible = true;
    const plan::Plan plan = builder::testing::plan_of(kNet, config);
    const builder::ModelOfPlan model = builder::read_kept_model(plan.kept, ir::Registry::builtin());
    ASSERT_TRUE(model.config.calibration.has_value());
    EXPECT_EQ(model.config.calibration->types.front(), types.front());
    EXPECT_EQ(model.graph.node_list().size(), 3u) << "all of it is read";
  }
}

constexpr double kAnything = 1e9;

// Samples that only show errors: a search among 16 bits and f32 tries no 8 bits, and one of both tries what the device has.
TEST(TypesOfBytes, ABudgetTriesThoseThatArePermitted) {
  for (const bool bytes : {false, true}) {
    BuildConfig config = calibrated_to(bytes ? std::vector{DType::i8, DType::f8e4m3fn} : std::vector<DType>{});
    config.budget = ErrorBudget{.max_error = kAnything};
    BuildReport report;
    builder::build_graph(builder::testing::parse(kNet), config, "", &report);
    ASSERT_TRUE(report.budget.has_value());
    double in_bytes = 0, in_float8 = 0;
    for (const BudgetPlan& p : report.budget->plans)
      for (const auto& [type, share] : p.work) in_bytes += type == DType::i8 ? share : 0, in_float8 += type == DType::f8e4m3fn ? share : 0;
    EXPECT_EQ(in_bytes > 0, bytes);
    EXPECT_EQ(in_float8, 0) << "a CPU has none";
  }
}

TEST(TypesOfBytes, OthersAreRefused) {
  EXPECT_EQ(refusal(calibrated_to({DType::f16}), "i8 and f8e4m3fn"), ErrorKind::invalid_argument);
  EXPECT_EQ(refusal(calibrated_to({}), "empty"), ErrorKind::invalid_argument);
  BuildConfig config = calibrated_to({DType::i8});
  config.int8 = false;
  EXPECT_EQ(refusal(config, "BuildConfig::int8"), ErrorKind::invalid_argument);
}

constexpr const char* kOpen = R"((x f32[n,64])
  w = constant f32[64,32]
  y = MatMul(x, w))";

TEST(TypesOfBytes, SamplesHaveTheShapesOfTheirProfile) {
  BuildConfig config = calibrated_to({DType::i8});
  config.profiles = {{{"x", {{1, 64}, {1, 64}, {1, 64}}}}, {{"x", {{32, 64}, {32, 64}, {32, 64}}}}};
  config.calibration->profile = 1;
  BuildReport report;
  builder::build_graph(builder::testing::parse(kOpen), config, "", &report);
  EXPECT_EQ(report.calibration->samples, 30);
  EXPECT_EQ(report.calibration->compared, 30);
  EXPECT_EQ(report.layers_by_type.at(DType::i8), 1);

  config.profiles.pop_back(), config.calibration->profile = 0;
  config.calibration->shapes = {{"x", {{32, 64}, {32, 64}, {32, 64}}}};
  BuildReport elsewhere;
  builder::build_graph(builder::testing::parse(kOpen), config, "", &elsewhere);
  EXPECT_EQ(elsewhere.calibration->samples, 30);
  EXPECT_EQ(elsewhere.calibration->errors.size(), 0u) << "no profile of the plan holds them";

  config.calibration->shapes.clear(), config.calibration->profile = 1;
  EXPECT_THROW(builder::build_graph(builder::testing::parse(kOpen), config, ""), Error);
}

}  // namespace
}  // namespace tenfold
