// Searches within error budgets: on a network whose second layer 8 bits do not suit, and on budgets that are none.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "tenfold/inspect.h"

namespace tenfold {
namespace {

// Row 0 of w is large, and x[0] is nearly nothing: b has one outlier, for which 8 bits leave little to the other columns.
constexpr const char* kNet = R"((x f32[8,64], w f32[64,64]!, u f32[64,64]!, g f32[64]!, v f32[64,32]!)
    a = MatMul(x, w)
    b = Mul(a, g)
    c = MatMul(b, u)
    d = Tanh(c)
    y = MatMul(d, v))";

ir::Graph net() {
  return ir::parse_graph(kNet, ir::Registry::builtin(), {.random_constant = [](DType d, const Shape& s, std::uint64_t n) {
                           Tensor t = ops::random_tensor(d, s, n);
                           if (s == Shape{64})
                             for (int i = 0; i < 64; ++i) t.mutable_data<float>()[i] = i == 0 ? 400.f : 0.05f;
                           else
                             for (std::int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] *= 0.2f;
                           if (s == Shape{64, 64} && n == 2)   // u: the outlier's column counts for little
                             for (int i = 0; i < 64; ++i) t.mutable_data<float>()[i] *= 1e-4f;
                           return t;
                         }});
}

BuildConfig with(double bound, std::string metric = "l2") {
  BuildConfig config;
  config.optimization_level = 1, config.threads = 1;
  config.calibration = Calibration{.sample = [](int i) -> std::optional<InputSet> {
                                     if (i >= 60) return {};
                                     return InputSet{{"x", ops::random_tensor(DType::f32, {8, 64}, static_cast<std::uint64_t>(100 + i))}};
                                   },
                                   .method = "minmax"};
  config.budget = ErrorBudget{.max_error = bound, .outputs = {}, .metric = std::move(metric)};
  config.calibration->corrections = {};   // the errors that the tests expect are those of rounding alone
  return config;
}

// On the samples that gave no ranges, beside the graph's own interpreter.
double error_of(const Engine& engine, const BuildConfig& config) {
  const ir::Graph graph = net();
  const auto context = engine.create_context();
  double error = 0, size = 0;
  for (int i = 1; i < 60; i += 2) {
    const Tensor x = config.calibration->sample(i)->at("x");
    const Tensor got = context->run({x}).at(0), expected = std::get<Tensor>(ops::run_graph(graph, {x}).at(0));
    for (std::int64_t k = 0; k < expected.size(); ++k)
      error += std::pow(got.as_double(k) - expected.as_double(k), 2), size += std::pow(expected.as_double(k), 2);
  }
  return std::sqrt(error / size);
}

TEST(BudgetSearch, KeepsTheLayersWideThatCostMost) {
  const ir::Graph graph = net();
  BuildReport loose, tight;
  const double all = [&] {
    const BuildConfig config = with(10);
    const Engine engine = builder::build_graph(graph, config, "", &loose);
    return loose.budget->plans.at(0).error;
  }();
  EXPECT_TRUE(loose.budget->met);
  const BuildConfig config = with(all / 3);
  const Engine engine = builder::build_graph(graph, config, "", &tight);
  const BudgetReport& reported = *tight.budget;
  EXPECT_TRUE(reported.met);
  EXPECT_EQ(reported.samples, 30);
  const auto taken = std::find_if(reported.plans.begin(), reported.plans.end(), [](const BudgetPlan& p) { return p.taken; });
  ASSERT_NE(taken, reported.plans.end());
  EXPECT_LE(taken->error, all / 3);
  EXPECT_TRUE(taken->low <= taken->error && taken->error <= taken->high);
  EXPECT_NEAR(error_of(engine, config), taken->error, 1e-4 + 0.01 * taken->error);
  BuildConfig again;
  again.optimization_level = 0;
  EXPECT_NE(retune(engine, again).inspection().build_options.find("; within the error budget: "), std::string::npos);
  for (const BudgetPlan& p : reported.plans) {   // none that is within the budget is faster, but for what a busy machine makes of times
    EXPECT_GT(p.milliseconds, 0) << p.name;
    EXPECT_TRUE(!p.within || p.milliseconds > taken->milliseconds / 2) << p.name;
  }
  ASSERT_EQ(reported.layers.size(), 3u);
  EXPECT_GT(reported.layers[1].error, 3 * reported.layers[0].error);   // the one that reads the outlier
  EXPECT_GT(reported.layers[1].error, 3 * reported.layers[2].error);
}

TEST(BudgetSearch, TakesFloatsWhereNothingNarrowerWillDo) {
  const ir::Graph graph = net();
  BuildReport report;
  std::string log;
  BuildConfig config = with(1e-5);
  config.log = [&log](Severity, std::string_view text) { log += std::string(text) + "\n"; };
  const Engine engine = builder::build_graph(graph, config, "", &report);
  EXPECT_LT(error_of(engine, config), 1e-5);
  for (const BudgetPlan& p : report.budget->plans) {
    EXPECT_TRUE(!p.taken || p.name.starts_with("fp32")) << p.name << "\n" << log;
    EXPECT_EQ(p.within, p.name.starts_with("fp32") || p.work.count(DType::i8) == 0) << p.name << "\n" << log;
  }
  EXPECT_TRUE(report.budget->met);
  EXPECT_FALSE(report.budget->out_of_time);
  for (const BudgetLayer& layer : report.budget->layers) EXPECT_TRUE(layer.wide && layer.type == DType::f32) << layer.layer;
}

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))).string();
}

TEST(BudgetSearch, EndsWithTheSamePlanWhereEverythingIsKnown) {
  const std::string cache = temporary("tenfold_budget_");
  const ir::Graph graph = net();
  const double all = [&] {
    BuildReport report;
    builder::build_graph(graph, with(10), "", &report);
    return report.budget->plans.at(0).error;
  }();
  BuildConfig config = with(all / 3);
  config.timing_cache = cache;
  std::vector<std::vector<std::byte>> plans;
  std::vector<BudgetReport> reported;
  int budget_steps = 0;
  config.progress = [&](const Progress& p) { return budget_steps += p.phase == "budget", true; };
  for (int i = 0; i < 3; ++i) {
    BuildReport report;
    budget_steps = 0;
    plans.push_back(builder::build_graph(graph, config, "", &report).serialize());
    reported.push_back(*report.budget);
    EXPECT_EQ(budget_steps == 0, i > 0);   // nothing is run again
  }
  EXPECT_EQ(plans[0], plans[1]);
  EXPECT_EQ(plans[1], plans[2]);
  ASSERT_EQ(reported[0].plans.size(), reported[1].plans.size());
  for (std::size_t i = 0; i < reported[0].plans.size(); ++i) {
    EXPECT_EQ(reported[0].plans[i].name, reported[1].plans[i].name);
    EXPECT_EQ(reported[0].plans[i].error, reported[1].plans[i].error);
    EXPECT_EQ(reported[0].plans[i].work, reported[1].plans[i].work);
  }
  ASSERT_EQ(reported[0].layers.size(), reported[1].layers.size());
  for (std::size_t i = 0; i < reported[0].layers.size(); ++i) EXPECT_EQ(reported[0].layers[i].advice, reported[1].layers[i].advice);
  config.budget->max_error = all / 2;   // another question: what is known of plans serves again
  BuildReport other;
  builder::build_graph(graph, config, "", &other);
  EXPECT_TRUE(other.budget->met);
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::temp_directory_path()))
    if (file.path().string().starts_with(cache)) std::filesystem::remove(file.path());
}

TEST(BudgetSearch, ErrorsOfLayersAreTheSameWithoutMemoryForThem) {
  std::vector<BudgetLayer> layers[2];
  for (const int i : {0, 1}) {
    BuildConfig config = with(0.01);
    if (i == 1) config.budget->search_memory = 0;
    config.calibration->samples = 4;   // two that give ranges, so that both ways run the same
    BuildReport report;
    builder::build_graph(net(), config, "", &report);
    layers[i] = report.budget->layers;
  }
  ASSERT_EQ(layers[0].size(), 3u);
  ASSERT_EQ(layers[1].size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(layers[0][i].error, layers[1][i].error, 1e-6 + 1e-4 * layers[1][i].error);
}

TEST(BudgetSearch, TakesTheCallersMeasureAndItsErrors) {
  BuildConfig config = with(0.5);
  int calls = 0;
  config.budget->measure = [&](std::span<const OutputSet> reference, std::span<const OutputSet> candidate) {
    EXPECT_EQ(std::make_pair(reference.size(), candidate.size()), std::make_pair(std::size_t{30}, std::size_t{30}));
    ++calls;
    double max = 0;
    for (std::size_t s = 0; s < reference.size(); ++s) {
      const Tensor &expected = reference[s].at("y"), &got = candidate[s].at("y");
      for (std::int64_t i = 0; i < expected.size(); ++i) max = std::max(max, std::fabs(expected.as_double(i) - got.as_double(i)));
    }
    return max > 1e-4 ? 1.0 : 0.0;   // 8 bits will not do
  };
  BuildReport report;
  const Engine engine = builder::build_graph(net(), config, "", &report);
  EXPECT_GT(calls, 1);
  EXPECT_LT(error_of(engine, config), 1e-4);
  config.budget->measure = [](auto, auto) -> double { throw Error(ErrorKind::io, "no more"); };
  EXPECT_THROW(builder::build_graph(net(), config), Error);
  config.budget->measure = [](auto, auto) { return std::nan(""); };
  EXPECT_THROW(builder::build_graph(net(), config), Error);
}

TEST(BudgetSearch, LabelsTellAccuracyLost) {
  BuildConfig config = with(0.01, "top1");
  std::vector<std::int64_t> labels;   // what the model says, so that all that differs is lost
  const ir::Graph graph = net();
  for (int i = 0; i < 60; ++i) {
    const Tensor y = std::get<Tensor>(ops::run_graph(graph, {config.calibration->sample(i)->at("x")}).at(0));
    for (std::int64_t row = 0; row < 8; ++row) {
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < 32; ++k)
        if (y.as_double(row * 32 + k) > y.as_double(row * 32 + best)) best = k;
      labels.push_back(best);
    }
  }
  BuildReport differs, lost, gained;
  builder::build_graph(graph, config, "", &differs);
  config.budget->labels = labels;
  builder::build_graph(graph, config, "", &lost);
  EXPECT_GT(differs.budget->plans[0].error, 0);
  EXPECT_EQ(differs.budget->plans[0].error, lost.budget->plans[0].error);
  for (std::int64_t& label : config.budget->labels) label = (label + 1) % 32;   // the model is wrong everywhere
  builder::build_graph(graph, config, "", &gained);
  EXPECT_LT(gained.budget->plans[0].error, 0);
  config.budget->labels.resize(100);
  EXPECT_THROW(builder::build_graph(graph, config), Error);
}

TEST(BudgetSearch, CanBeCancelled) {
  for (const int at : {1, 31, 45}) {
    BuildConfig config = with(0.01);
    int steps = 0;
    config.progress = [&](const Progress& p) {
      EXPECT_TRUE(p.done >= 1 && p.done <= p.total);
      return p.phase != "budget" || ++steps < at;
    };
    try {
      builder::build_graph(net(), config);
      ADD_FAILURE() << at;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::cancelled);
    }
  }
}

TEST(BudgetSearch, LeavesOutPlansThatCannotObeyTheUsersTypes) {
  const ir::Graph graph = net();
  BuildConfig config = with(1e-3);
  config.layer_types = {LayerConstraints::obey, {{graph.node_list().at(4)->name, DType::i8}}, {}};
  try {
    BuildReport report;
    builder::build_graph(graph, config, "", &report);   // no plan of floats is tried, and some mix may do
    for (const BudgetPlan& p : report.budget->plans) EXPECT_NE(p.name, "fp32");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);   // the last resort cannot obey either, and says which layer
    EXPECT_NE(std::string(e.what()).find("not i8 as asked for"), std::string::npos) << e.what();
  }
}

TEST(BudgetSearch, EndsWhenItsTimeIsUp) {
  BuildReport report;
  BuildConfig config = with(1e-3);
  config.budget->search_seconds = 1e-9;
  builder::build_graph(net(), config, "", &report);
  EXPECT_TRUE(report.budget->out_of_time);
  EXPECT_LE(report.budget->plans.size(), 2u);   // the first, and one of floats
}

TEST(BudgetSearch, RefusesBudgetsThatAreNone) {
  const auto refused = [](BuildConfig config, const char* words) {
    try {
      builder::build_graph(net(), config);
      ADD_FAILURE() << "taken: " << words;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  for (const double bad : {0.0, -1.0, std::nan("")}) refused(with(bad), "a number above 0 is needed");
  refused(with(0.1, "l3"), "there is no metric 'l3'; there are cosine, l2, linf, top1, top5");
  BuildConfig other = with(0.1);
  other.budget->outputs["z"] = 0.1;
  refused(other, "no output 'z'");
  other = with(0.1), other.calibration.reset();
  refused(other, "--data=PATH");
  other = with(0.1), other.calibration->samples = 1;
  refused(other, "two samples at least");
  other = with(0.1), other.budget->labels = {1};
  refused(other, "top1 and top5");
}

}  // namespace
}  // namespace tenfold
