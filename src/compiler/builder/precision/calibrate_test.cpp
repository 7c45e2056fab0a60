// Builds in 8 bits from samples: ranges of what is a view, samples that come only once, weights and reports that are no ordinary ones.
#include "builder/precision/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/text.h"
#include "ops/cases.h"

namespace tenfold::builder {
namespace {

ir::Graph parse(std::string_view text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

Tensor scaled(Tensor t, float by) {
  for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] *= by;
  return t;
}

bool has_integers(const BuildReport& report) {
  return std::any_of(report.steps.begin(), report.steps.end(), [](const StepReport& s) { return s.problem.starts_with("MatMulInteger"); });
}

constexpr const char* kProduct = R"((x f32[4,16])
  w = constant f32[16,8]
  y = MatMul(x, w))";

BuildConfig calibrated_by(std::function<std::optional<InputSet>(int)> sample) {
  BuildConfig config;
  config.optimization_level = 0;
  config.calibration = Calibration{.sample = std::move(sample)};
  return config;
}
std::optional<InputSet> product_sample(int index) {
  if (index >= 60) return {};
  return InputSet{{"x", ops::random_tensor(DType::f32, {4, 16}, static_cast<std::uint64_t>(index) + 1)}};
}

TEST(Calibrate, AConcatHasTheRangeOfAllItsOperands) {
  const ir::Graph graph = parse(R"((x f32[4,16], z f32[4,16])
    w = constant f32[32,8]
    a = Relu(x)
    b = Relu(z)
    c = Concat(a, b) axis=1
    y = MatMul(c, w))");
  const auto sample = [](int index) -> std::optional<InputSet> {
    if (index >= 60) return {};
    const auto seed = static_cast<std::uint64_t>(index) * 2 + 1;
    return InputSet{{"x", ops::random_tensor(DType::f32, {4, 16}, seed)},
                    {"z", scaled(ops::random_tensor(DType::f32, {4, 16}, seed + 1), 20)}};   // its range is twenty times as wide
  };
  BuildReport report;
  build_graph(graph, calibrated_by(sample), "", &report);
  ASSERT_TRUE(report.calibration.has_value());
  EXPECT_TRUE(report.calibration->without_range.empty());
  ASSERT_EQ(report.calibration->errors.size(), 1u);
  EXPECT_LT(report.calibration->errors[0].relative_l2, 0.02);
  EXPECT_GT(report.calibration->errors[0].relative_l2, 1e-6);
}

TEST(Calibrate, EverySampleIsAskedForOnce) {
  std::map<int, int> calls;
  BuildReport report;
  build_graph(parse(kProduct), calibrated_by([&](int index) { return ++calls[index], product_sample(index); }), "", &report);
  EXPECT_TRUE(has_integers(report));
  EXPECT_EQ(report.calibration->samples, 30);
  EXPECT_EQ(report.calibration->compared, 30);
  for (const auto& [index, times] : calls) EXPECT_EQ(times, 1) << index;
}

// Sample `bad` has one number that is none.
std::function<std::optional<InputSet>(int)> with_odd_number(int bad, float number) {
  return [=](int index) {
    std::optional<InputSet> sample = product_sample(index);
    if (sample && index == bad) sample->at("x") = scaled(sample->at("x"), 1), sample->at("x").mutable_data<float>()[17] = number;
    return sample;
  };
}

TEST(Calibrate, ASampleThatGivesRangesAndIsNotFiniteIsNamed) {
  for (const char* method : {"auto", "minmax", "percentile", "entropy", "mse"})
    for (const float number : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
      BuildConfig config = calibrated_by(with_odd_number(4, number));
      config.calibration->method = method;
      try {
        build_graph(parse(kProduct), config);
        FAIL() << method;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
        const std::string text = e.what();
        EXPECT_NE(text.find("sample 4 of the calibration"), std::string::npos) << text;
        EXPECT_NE(text.find("input 'x' holds "), std::string::npos) << text;
        EXPECT_NE(text.find(" at [1,1] (1 of 64 numbers are not finite)"), std::string::npos) << text;
      }
    }
}

TEST(Calibrate, ASampleThatIsNotFiniteDoesNotCountForTheError) {
  for (const char* method : {"auto", "minmax", "dynamic"}) {
    std::string warned;
    BuildConfig config = calibrated_by(with_odd_number(5, std::nanf("")));
    config.calibration->method = method;
    config.log = [&](Severity severity, std::string_view text) {
      if (severity == Severity::warning && text.find("does not count") != std::string_view::npos) warned = text;
    };
    BuildReport report;
    build_graph(parse(kProduct), config, "", &report);
    EXPECT_NE(warned.find("sample 5 of the calibration"), std::string::npos) << method << ": " << warned;
    EXPECT_EQ(report.calibration->compared, 29) << method;
    ASSERT_EQ(report.calibration->errors.size(), 1u) << method;
    EXPECT_LT(report.calibration->errors[0].relative_l2, 0.05) << method;
  }
}

TEST(Calibrate, ABudgetNamesTheSampleThatIsNotFinite) {
  BuildConfig config = calibrated_by(with_odd_number(5, std::nanf("")));
  config.budget = ErrorBudget{.max_error = 0.5};
  try {
    build_graph(parse(kProduct), config);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("sample 5 of the calibration"), std::string::npos) << e.what();
  }
}

// As masks are: what hides is not what is wrong.
TEST(Calibrate, MinusInfinityInAMaskIsData) {
  const ir::Graph graph = parse(R"((x f32[4,16], m f32[4,16])
    w = constant f32[16,8]
    s = Add(x, m)
    p = Softmax(s) axis=-1
    y = MatMul(p, w)
    return y, s)");
  const auto sample = [](int index) {
    std::optional<InputSet> made = product_sample(index);
    Tensor mask = scaled(ops::random_tensor(DType::f32, {4, 16}, 5), 0);
    mask.mutable_data<float>()[3] = -std::numeric_limits<float>::infinity();
    if (made) made->emplace("m", mask);
    return made;
  };
  BuildReport report;
  build_graph(graph, calibrated_by(sample), "", &report);
  EXPECT_EQ(report.calibration->samples, 30);
  EXPECT_EQ(report.calibration->compared, 30);
  for (const OutputError& e : report.calibration->errors) EXPECT_LT(e.relative_l2, 0.05) << e.output;
}

TEST(Calibrate, AReportServesALaterBuildWithoutOne) {
  BuildReport report;
  build_graph(parse(kProduct), calibrated_by(product_sample), "", &report);
  EXPECT_TRUE(report.calibration.has_value());
  BuildConfig plain;
  plain.optimization_level = 0;
  build_graph(parse(kProduct), plain, "", &report);
  EXPECT_FALSE(report.calibration.has_value());
}

TEST(Calibrate, WeightsThatNoScaleHoldsStayFloats) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    ir::Graph graph = parse(kProduct);
    for (const auto& v : graph.values())
      if (v->is_constant()) {
        Tensor t = scaled(v->constant->tensor, 1);
        t.mutable_data<float>()[3] = bad;
        graph.replace_uses(v.get(), graph.add_constant(std::move(t), "bad"));
        break;
      }
    graph.sweep();
    BuildReport report;
    build_graph(graph, calibrated_by(product_sample), "", &report);
    EXPECT_FALSE(has_integers(report));
  }
}

TEST(Calibrate, ASampleMayCancelWhileThePlanIsCompared) {
  const auto cancels = [](int index) -> std::optional<InputSet> {
    if (index % 2 == 1) throw Error(ErrorKind::cancelled, "enough");
    return product_sample(index);
  };
  try {
    build_graph(parse(kProduct), calibrated_by(cancels));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::cancelled);
  }
}

// "dynamic" asks for no data. With data, it only checks the plan with it.
TEST(Calibrate, RowsAreQuantizedAsTheyRun) {
  constexpr const char* kText = R"((x f32[4,64])
    w = constant f32[64,48]
    v = constant f32[48,8]
    a = MatMul(x, w)
    b = Relu(a)
    y = MatMul(b, v))";
  BuildConfig config;
  config.optimization_level = 0;
  config.calibration = Calibration{.sample = {}, .method = "dynamic"};
  BuildReport report;
  build_graph(parse(kText), config, "", &report);
  EXPECT_TRUE(has_integers(report));
  EXPECT_EQ(report.layers_by_type.at(DType::i8), 2);
  EXPECT_EQ(report.calibration->method, "dynamic");
  EXPECT_EQ(report.calibration->samples, 0);
  const auto reported = [&](std::string_view text) {
    return std::any_of(report.notes.begin(), report.notes.end(), [&](const Note& n) { return n.text.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(reported("quantize each row at run time"));
  config.calibration->sample = [](int index) -> std::optional<InputSet> {
    if (index >= 8) return {};
    return InputSet{{"x", scaled(ops::random_tensor(DType::f32, {4, 64}, static_cast<std::uint64_t>(index) + 1), index == 1 ? 1e4f : 1)}};
  };
  build_graph(parse(kText), config, "", &report);
  EXPECT_EQ(report.calibration->compared, 4);
  EXPECT_LT(report.calibration->errors.at(0).relative_l2, 0.02) << "a large sample has scales of its own";
  EXPECT_GT(report.calibration->errors.at(0).relative_l2, 1e-5);
}

TEST(Calibrate, RowsStayWideWhereNobodyQuantizesThem) {
  BuildConfig config;
  config.optimization_level = 0;
  config.calibration = Calibration{.sample = {}, .method = "dynamic"};
  BuildReport report;
  build_graph(parse(kProduct), config, "", &report);   // 16 values are not worth it
  EXPECT_FALSE(has_integers(report));
  config.device = "null";
  build_graph(parse("(x f32[4,64])\n  w = constant f32[64,8]\n  y = MatMul(x, w)"), config, "", &report);
  EXPECT_FALSE(report.layers_by_type.count(DType::i8));
  config.device = "cpu", config.calibration->cache = "/no/such/cache";
  EXPECT_THROW(build_graph(parse(kProduct), config, "", &report), Error);
  config.calibration = Calibration{.sample = product_sample, .method = "dinamic"};
  try {
    build_graph(parse(kProduct), config, "", &report);
    ADD_FAILURE() << "an unknown method";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("there are entropy, minmax, mse, percentile and dynamic"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tenfold::builder
