// Plans of several profiles: how often they hold a weight, what they compute, and what a limit changes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "plan/inspect.h"
#include "plan/write.h"
#include "runtime/engine/opened.h"

namespace tenfold::builder {
namespace {

constexpr std::int64_t kWidth = 256, kBytes = kWidth * kWidth * 4;
constexpr const char* kMlp = R"((x f32[batch,256], w0 f32[256,256]!, w1 f32[256,256]!, w2 f32[256,256]!)
    a = MatMul(x, w0)
    b = Relu(a)
    c = MatMul(b, w1)
    d = Relu(c)
    y = MatMul(d, w2))";
constexpr std::int64_t kBatches[] = {1, 4, 16, 64, 200};

ir::Graph parsed(const char* text) {
  return ir::parse_graph(text, ir::Registry::builtin(),
                         {.random_constant = [](DType d, const Shape& s, std::uint64_t n) { return ops::random_tensor(d, s, n); }});
}

OptimizationProfile profile(std::int64_t batch) { return {{"x", {{1, kWidth}, {batch, kWidth}, {batch, kWidth}}}}; }

// Times by a seed: candidates win at random, and so do forms.
BuildConfig config_of(std::uint64_t seed, double ratio) {
  BuildConfig config;
  config.threads = 1, config.random_choices = seed, config.max_weight_ratio = ratio;
  config.tactic_sources = static_cast<std::uint32_t>(TacticSource::native) | static_cast<std::uint32_t>(TacticSource::reference);
  for (const std::int64_t batch : kBatches) config.profiles.push_back(profile(batch));
  return config;
}

Engine single(const ir::Graph& graph, BuildConfig config, std::size_t number) {
  config.profiles = {config.profiles.at(number)};
  return build_graph(graph, config);
}

// What one profile takes at most by itself, and at least the weights as they are.
std::int64_t alone(const ir::Graph& graph, const BuildConfig& config, std::int64_t weights) {
  std::int64_t most = weights;
  for (std::size_t p = 0; p < config.profiles.size(); ++p) most = std::max(most, single(graph, config, p).info().weight_bytes);
  return most;
}

const plan::Plan& plan_of(const Engine& engine) { return runtime::state_of(engine)->plan; }

// Constants as large as a weight in its narrowest form.
int copies(const Engine& engine) {
  int count = 0;
  for (const plan::Constant& c : plan_of(engine).constants) count += c.bytes >= kBytes / 4;
  return count;
}

std::vector<std::string> kernels(const Engine& engine, std::size_t program) {
  std::vector<std::string> all;
  const PlanInspection inspection = engine.inspection();
  for (const PlanStep& step : inspection.programs.at(program).steps) {
    std::string text = cat(step.op, " ", step.tactic);
    for (const std::int64_t n : step.config) text += cat(" ", n);
    all.push_back(std::move(text));
  }
  return all;
}

std::vector<double> multiplied(const std::vector<double>& rows, const Tensor& w, bool relu) {
  const auto n = static_cast<std::size_t>(kWidth);
  std::vector<double> out(rows.size(), 0);
  for (std::size_t r = 0; r < rows.size() / n; ++r)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) out[r * n + j] += rows[r * n + k] * static_cast<double>(w.data<float>()[k * n + j]);
  if (relu)
    for (double& v : out) v = std::max(v, 0.0);
  return out;
}

// The largest difference from what plain loops in f64 give, as a part of the largest result.
double error_of(const Engine& engine, const ir::Graph& graph, std::int64_t batch) {
  const Tensor x = ops::random_tensor(DType::f32, {batch, kWidth}, 99);
  std::vector<double> expected(x.data<float>(), x.data<float>() + x.size());
  for (const auto& node : graph.nodes())
    if (node->op() == "MatMul") expected = multiplied(expected, node->in(1)->constant->tensor, node->out()->name != "y");
  const Tensor y = engine.create_context()->run({x}).at(0);
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(y.data<float>()[i]) - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return most / largest;
}

TEST(PlanWeights, FiveProfilesHoldEachWeightOnce) {
  const ir::Graph graph = parsed(kMlp);
  int several = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    BuildConfig exact = config_of(seed, 1);
    exact.tf32 = false;   // then no form has fewer bytes than the weights themselves
    EXPECT_EQ(copies(build_graph(graph, exact)), 3);
    exact.max_weight_ratio = 0;
    several += copies(build_graph(graph, exact)) > 3;
  }
  EXPECT_GT(several, 6) << "too few seeds lead to several forms";
}

TEST(PlanWeights, StayWithinTheRatioAndComputeTheSame) {
  const ir::Graph graph = parsed(kMlp);
  int limited = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const Engine engine = build_graph(graph, config_of(seed, BuildConfig().max_weight_ratio));
    const Engine fastest = build_graph(graph, config_of(seed, 0));
    for (std::size_t p = 0; p < std::size(kBatches); ++p) {
      EXPECT_EQ(kernels(fastest, p), kernels(single(graph, config_of(seed, 0), p), 0)) << "each profile has its own fastest kernels";
      EXPECT_LT(error_of(engine, graph, kBatches[p]), 1e-3);
    }
    const auto most = static_cast<double>(alone(graph, config_of(seed, 0), 3 * kBytes));
    EXPECT_LE(engine.info().weight_bytes, static_cast<std::int64_t>(1.3 * most) + 1024);
    limited += fastest.info().weight_bytes > engine.info().weight_bytes;
  }
  EXPECT_GT(limited, 3) << "too few seeds lead to more";
}

// Products of one value are merged, and in some profiles taken apart again: the parts would stand beside the whole.
TEST(PlanWeights, ProfilesAgreeOnMergedProducts) {
  const ir::Graph graph = parsed(R"((x f32[batch,256], w0 f32[256,256]!, w1 f32[256,256]!)
    a = MatMul(x, w0)
    b = MatMul(x, w1)
    y = Softmax(a)
    z = Softmax(b)
    return y, z)");
  int several = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    BuildConfig config = config_of(seed, 1);
    config.tf32 = false;
    const Engine engine = build_graph(graph, config);
    config.max_weight_ratio = 0;
    const Engine fastest = build_graph(graph, config);
    EXPECT_LE(engine.info().weight_bytes, 2 * kBytes + kBytes / 4);   // panels may be padded
    std::set<std::size_t> products;
    const PlanInspection inspection = fastest.inspection();
    for (std::size_t p = 0; p < std::size(kBatches); ++p) {
      std::size_t count = 0;
      for (const PlanStep& step : inspection.programs.at(p).steps) count += step.op == "MatMul";
      products.insert(count);
    }
    several += products.size() > 1;
  }
  EXPECT_GT(several, 2) << "too few seeds lead to graphs that differ";
}

TEST(PlanWeights, OneProfileIsAsItWas) {
  const ir::Graph graph = parsed(kMlp);
  BuildConfig limited = config_of(3, 1), free = config_of(3, 0);
  limited.profiles = free.profiles = {profile(16)};
  EXPECT_EQ(kernels(build_graph(graph, limited), 0), kernels(build_graph(graph, free), 0));
}

// By the clock: what one build measures on its way, the next finds, and makes the same plan of it.
TEST(PlanWeights, EqualTimesMakeEqualPlans) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("tenfold_weights_" + std::to_string(::getpid()));
  const ir::Graph graph = parsed(kMlp);
  BuildConfig config = config_of(0, 1);
  config.random_choices = 0, config.optimization_level = 2, config.timing_cache = path.string();
  build_graph(graph, config, "mlp");
  config.error_on_cache_miss = true;
  const std::string second = plan::serialize(plan_of(build_graph(graph, config, "mlp")));
  EXPECT_EQ(plan::serialize(plan_of(build_graph(graph, config, "mlp"))), second);
  std::filesystem::remove(path);
}

TEST(PlanWeights, AreToldByFormAndProfile) {
  const ir::Graph graph = parsed(kMlp);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    BuildReport report;
    const Engine engine = build_graph(graph, config_of(seed, 1), "", &report);
    if (report.notes.empty() || report.notes[0].text.find("packed weights of 5 profiles take ") != 0) continue;
    EXPECT_NE(report.notes[0].text.find("by the tuner's measurements"), std::string::npos) << report.notes[0].text;
    EXPECT_NE(engine.inspect(-1).find("; weights shared: packed weights of 5 profiles take "), std::string::npos) << engine.inspect(-1);
    EXPECT_NE(engine.inspect(-1).find(" MiB for "), std::string::npos) << engine.inspect(-1);
    const auto forms = nlohmann::json::parse(engine.inspect_json())["Summary"]["WeightForms"];
    std::int64_t bytes = 0;
    for (const auto& form : forms) {
      bytes += form["Bytes"].get<std::int64_t>();
      EXPECT_EQ(form["BytesByProfile"].size(), 5u);
    }
    std::int64_t stored = 0;
    for (const plan::Constant& c : plan_of(engine).constants) stored += c.bytes;
    EXPECT_EQ(bytes, stored);
    return;
  }
  FAIL() << "no seed leads to weights that are shared";
}

}  // namespace
}  // namespace tenfold::builder
