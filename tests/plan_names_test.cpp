// The model's names in plans: every node of a model is in the steps that compute it or told as removed, also after saving and re-tuning;
// and what a run shows under a tensor's name are that tensor's numbers.
#include <gtest/gtest.h>

#include <filesystem>

#include "builder/builder.h"
#include "graph_grower.h"
#include "names_check.h"
#include "onnx_import/import.h"
#include "pictures.h"
#include "tenfold/build.h"
#include "tenfold/inspect.h"
#include "tenfold/timing_cache.h"

namespace tenfold {
namespace {

// Empty: every node has steps or a reason, never both, and every tensor a place.
std::string lost(const Engine& engine) {
  const PlanInspection plan = engine.inspection();
  std::string fault;
  for (const PlanProgram& program : plan.programs) {
    if (program.nodes.empty()) fault += "the plan keeps no names; ";
    for (const PlanNode& n : program.nodes)
      if (n.steps.empty() == n.removed_by.empty())
        fault += cat("'", n.name, "' is ", n.steps.empty() ? "lost; " : "computed and removed; ");
    for (const PlanTensor& t : program.tensors)
      if (t.where.empty()) fault += cat("tensor '", t.name, "' has no place; ");
    for (const PlanStep& step : program.steps)
      if (step.nodes.empty() && step.op != "Reformat" && step.op != "Identity" && step.op != "Cast")
        fault += cat("step '", step.name, "' (", step.op, ") computes nothing of the model; ");
  }
  return fault;
}

// A run watched, beside the interpreter on the model as it was: by the names that the plan gives each result.
std::string other_numbers(const ir::Graph& graph, const Engine& engine, const std::vector<Tensor>& inputs, double tolerance,
                          int& compared) {
  ir::Graph model = graph.clone();
  if (!model.model_names) ir::start_names(model, "edit");
  std::map<std::string, Tensor> expected;
  for (const auto& [number, t] : tests::named_values(model, inputs))
    expected[model.model_names->tensors[static_cast<std::size_t>(number)]] = t;
  const PlanInspection plan = engine.inspection();
  std::map<std::string, std::set<std::string>> names;   // of results
  for (const PlanStep& step : plan.programs[0].steps)
    for (const PlanOperand& o : step.outputs)
      for (const std::int32_t t : o.tensors) names[o.name].insert(plan.programs[0].tensors[static_cast<std::size_t>(t)].name);
  const auto context = engine.create_context();
  std::string fault;
  context->set_observer([&](std::string_view, std::string_view value, const Tensor& got) {
    for (const std::string& name : names[std::string(value)])
      if (const auto it = expected.find(name); it != expected.end()) ++compared, fault += tests::differs(name, it->second, got, tolerance);
  });
  context->run(inputs);
  return fault;
}

BuildConfig untimed() {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1, config.tf32 = false;
  return config;
}

TEST(PlanNames, HoldForRandomGraphsAndChoices) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed) {
    Grower grower(seed);
    const std::string text = grower.grow();
    SCOPED_TRACE(cat("seed ", seed, "\n", text));
    const ir::Graph graph = tests::parse_picture(text);
    Shape shape = grower.start();
    shape.insert(shape.begin(), 2);
    BuildConfig config = untimed();
    config.random_choices = seed + 1, config.optimization_level = 2;
    config.profiles = {{{"x", {shape, shape, shape}}}};
    const Engine engine = builder::build_graph(graph, config);
    EXPECT_EQ(lost(engine), "") << engine.inspect(1);
    const std::vector<Tensor> inputs{ops::random_tensor(DType::f32, shape, seed)};
    EXPECT_EQ(other_numbers(graph, engine, inputs, seed % 8 == 7 ? 0.1 : 2e-3, compared), "") << engine.inspect(1);
    const std::vector<std::byte> bytes = engine.serialize();
    const Engine loaded = Engine::load(std::span(bytes), {.threads = 1});
    EXPECT_EQ(loaded.inspect_json(), engine.inspect_json());
    if (seed % 4 > 0) continue;
    BuildConfig again = untimed();
    const Engine retuned = retune(loaded, again);
    EXPECT_EQ(lost(retuned), "") << retuned.inspect(1);
    EXPECT_EQ(other_numbers(graph, retuned, inputs, seed % 8 == 7 ? 0.1 : 2e-3, compared), "") << retuned.inspect(1);
  }
  std::printf("%d results compared\n", compared);
  EXPECT_GT(compared, 250);
}

// The names are no part of a problem: a graph of other names finds all its times.
TEST(PlanNames, DoNotMakeProblemsDiffer) {
  const auto build = [](const std::string& stem, const std::shared_ptr<TimingCache>& cache) {
    const ir::Graph graph = tests::parse_picture(cat("(x f32[4,16], w f32[16,24]!)\n  ", stem, " = MatMul(x, w)\n  ", stem, "2 = Relu(",
                                                     stem, ")\n  y = Softmax(", stem, "2)\n  return y\n"));
    BuildConfig config = untimed();
    config.optimization_level = 1, config.timings = cache;
    BuildReport report;
    builder::build_graph(graph, config, "", &report);
    return report.timed;
  };
  const auto cache = std::make_shared<TimingCache>();
  EXPECT_GT(build("a", cache), 0);
  EXPECT_EQ(build("other", cache), 0);
}

// Where ../shared/models is: at level 0 and with choices at random.
TEST(PlanNames, OfRealModelsAreKept) {
  const std::filesystem::path folder = std::filesystem::path(TENFOLD_SOURCE_DIR) / "../shared/models";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there is no " << folder.string();
  int models = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".onnx") continue;
    SCOPED_TRACE(file.path().filename().string());
    if (file.path().filename().string().starts_with("silero")) continue;   // its ranks depend on shapes that only a caller knows
    ++models;
    for (const std::uint64_t choices : {0u, 7u}) {
      BuildConfig config = untimed();
      config.random_choices = choices;
      const Engine engine = build_file(file.path().string(), config);
      EXPECT_EQ(lost(engine), "");
      const PlanProgram program = engine.inspection().programs.at(0);
      std::size_t steps = 0, named = 0;
      for (const PlanNode& n : program.nodes) steps += !n.steps.empty();
      for (const PlanStep& s : program.steps)
        for (const PlanOperand& o : s.outputs) named += !o.tensors.empty();
      std::printf("%s: %zu nodes, %zu of them in %zu steps, %zu of whose results are the model's\n", file.path().filename().c_str(),
                  program.nodes.size(), steps, program.steps.size(), named);
      EXPECT_GT(named, program.steps.size() / 2);
    }
  }
  EXPECT_GT(models, 0);
}

}  // namespace
}  // namespace tenfold
