// Random networks, data and budgets: no finished plan is over its bound, and what is told of plans in 8 bits is so, both measured by the
// graph's own interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/check.h"
#include "builder/builder.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "quant/metric.h"

namespace tenfold {
namespace {

using Random = std::mt19937_64;

// Products of random widths with activations and residuals between them; weights of widely different sizes.
ir::Graph random_net(Random& random) {
  const auto one_of = [&](std::initializer_list<int> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  int width = one_of({16, 24, 32});
  std::string inputs = cat("(x f32[6,", width, "]"), lines, at = "x";
  const int layers = one_of({2, 3, 4, 5});
  for (int i = 0; i < layers; ++i) {
    const bool residual = i > 0 && random() % 2 == 0;
    const int next = residual ? width : one_of({16, 24, 32});
    inputs += cat(", w", i, " f32[", width, ",", next, "]!");
    lines += cat("\n  p", i, " = MatMul(", at, ", w", i, ")");
    std::string now = cat("p", i);
    if (residual) lines += cat("\n  s", i, " = Add(", now, ", ", at, ")"), now = cat("s", i);
    const std::string activation = random() % 3 == 0 ? "Tanh" : random() % 2 == 0 ? "Relu" : "";
    if (!activation.empty() && i + 1 < layers) lines += cat("\n  a", i, " = ", activation, "(", now, ")"), now = cat("a", i);
    at = now, width = next;
  }
  lines += cat("\n  y = Mul(", at, ", ", at, ")");
  static std::uint64_t seed;
  seed = random();
  return ir::parse_graph(inputs + ")" + lines, ir::Registry::builtin(), {.random_constant = [](DType d, const Shape& s, std::uint64_t n) {
                           Tensor t = ops::random_tensor(d, s, seed + n);
                           const double size = std::pow(2.0, static_cast<double>((seed >> n) % 5)) / static_cast<double>(s[0]);
                           for (std::int64_t i = 0; i < t.size(); ++i)
                             t.mutable_data<float>()[i] *= static_cast<float>(size * (i % 7 == 0 ? 4 : 1));
                           return t;
                         }});
}

double error_of(const Engine& engine, const ir::Graph& graph, const BuildConfig& config) {
  const quant::Metric& metric = quant::metric(config.budget->metric);
  const auto context = engine.create_context();
  std::vector<quant::SampleError> errors;
  for (int i = 1; i < 24; i += 2) {
    const Tensor x = config.calibration->sample(i)->at("x");
    errors.push_back(metric.of_sample(context->run({x}).at(0), std::get<Tensor>(ops::run_graph(graph, {x}).at(0))));
  }
  return metric.over(errors);
}

TEST(BudgetBound, NoFinishedPlanIsOverItAndErrorsAreTrue) {
  int over = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    const ir::Graph graph = random_net(random);
    const Shape shape = ir::constants(graph.inputs[0]->dims());
    BuildConfig config;
    config.optimization_level = 1, config.threads = 1, config.random_choices = seed % 3 == 0 ? seed : 0,
    config.log = [](Severity, std::string_view) {};
    const double size = std::pow(4.0, static_cast<double>(random() % 4) - 1);
    config.calibration = Calibration{.sample = [=](int i) -> std::optional<InputSet> {
      Tensor x = ops::random_tensor(DType::f32, shape, seed * 1000 + static_cast<std::uint64_t>(i));
      for (std::int64_t k = 0; k < x.size(); ++k) x.mutable_data<float>()[k] *= static_cast<float>(size * (1 + i % 5));
      return i < 24 ? std::optional(InputSet{{"x", x}}) : std::nullopt;
    }, .method = "minmax", .corrections = {}};
    const char* const metrics[] = {"l2", "linf", "cosine", "top1"};
    config.budget =
        ErrorBudget{.max_error = std::pow(10.0, -static_cast<double>(random() % 300) / 100 - 0.5), .metric = metrics[random() % 4]};
    BuildReport report;
    const Engine engine = builder::build_graph(graph, config, "", &report);
    ASSERT_TRUE(report.budget->met) << seed;
    EXPECT_LE(error_of(engine, graph, config), config.budget->max_error * (1 + 1e-3) + 1e-6) << seed << " " << config.budget->metric;
    BuildConfig narrow = config;  // "everything permitted", which is rarely the fastest of so small networks
    narrow.budget.reset();
    const double reported = report.budget->plans[0].error, error = error_of(builder::build_graph(graph, narrow), graph, config);
    EXPECT_NEAR(reported, error, 1e-5 + 1e-3 * error) << seed << " " << config.budget->metric;
    for (const BudgetPlan& p : report.budget->plans) over += !p.within;
  }
  EXPECT_GT(over, 3);  // the bounds bind
}

}  // namespace
}  // namespace tenfold
