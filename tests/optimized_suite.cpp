// Building, running, saving and loading for the suite; see optimized_suite.h.
#include "optimized_suite.h"

#include <atomic>
#include <set>

#include "backends/backend.h"
#include "backends/tactic.h"
#include "builder/builder.h"
#include "builder/model/model.h"
#include "builder/open_built.h"
#include "onnx_import/import.h"
#include "plan/read.h"
#include "plan/verify.h"
#include "runtime/device/far_backend_for_tests.h"
#include "runtime/engine/open.h"
#include "tenfold/bindings.h"
#include "tenfold/inspect.h"

namespace tenfold::tests {
namespace {

// The CPU's tactics on a device whose memory the host cannot read: what a GPU asks of the runtime, anywhere.
constexpr const char* kFar = "far";

Engine build_far(const std::string& model, const BuildConfig& config) {
  BuildReport report;
  auto backend = std::make_shared<runtime::FarBackend>();
  const ir::Graph graph = onnx_import::import_file(model, builder::import_options(config), ir::Registry::builtin());
  return builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
}
Engine load_far(std::span<const std::byte> bytes, const BuildConfig& config) {
  auto backend = std::make_shared<runtime::FarBackend>();
  plan::Plan plan = plan::load(bytes);
  plan::verify(plan, *backend, ir::Registry::builtin());
  return runtime::engine_of(runtime::open_engine(std::move(plan), {.threads = config.threads}, backend));
}

std::atomic<std::int64_t> g_rounding_steps = 0;

bool rounds_f32(const std::string& tactic) {
  static const std::set<std::string> rounding = [] {
    std::set<std::string> names;
    for (const backends::Tactic& t : backends::open_backend("cpu")->tactics())
      if (t.rounds_f32) names.insert(std::string(t.name));
    return names;
  }();
  return rounding.count(tactic) > 0;
}

void count_rounding(const Engine& engine) {
  for (const PlanProgram& program : engine.inspection().programs)
    for (const PlanStep& step : program.steps) g_rounding_steps += rounds_f32(step.tactic);
}

int one_that_rounds(const TacticQuestion& question) {
  for (std::size_t i = 0; i < question.candidates.size(); ++i)
    if (rounds_f32(question.candidates[i].tactic)) return static_cast<int>(i);
  return -1;
}

Values run_with_constants(const std::string& model, const Values& inputs, const BuildConfig& config) {
  ir::Graph graph = onnx_import::import_file(model);
  Values given = inputs;
  for (std::size_t i = graph.inputs.size(); i-- > 1;) {
    ir::Value* const value = graph.inputs[i];
    if (!value->type.is_tensor() || !is_float(value->dtype()) || inputs[i].empty()) continue;
    graph.replace_uses(value, graph.add_constant(inputs[i].tensor(), "", true));
    graph.inputs.erase(graph.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    given.erase(given.begin() + static_cast<std::ptrdiff_t>(i));
  }
  BuildConfig fixed = config;
  fixed.profiles = {onnx_suite::profile_of(graph, given)};
  std::shared_ptr<backends::Backend> backend = backends::open_backend("cpu");
  BuildReport report;
  const Engine engine = builder::open_built(builder::build_plan(graph, fixed, "", backend, report), fixed, backend);
  count_rounding(engine);
  return run_values(*engine.create_context(), given);
}

onnx_suite::Engines engines_for(const std::string& device) {
  onnx_suite::Engines engines = onnx_suite::public_engines();
  if (device == kFar) return {build_far, load_far};
  engines.build = [build = engines.build](const std::string& model, const BuildConfig& config) {
    Engine engine = build(model, config);
    count_rounding(engine);
    return engine;
  };
  return engines;
}

}  // namespace

std::int64_t rounding_steps() { return g_rounding_steps; }

SuiteFinding run_optimized_case(const SuiteCase& test, std::uint64_t seed, const std::string& device, int level, bool rounds) {
  BuildConfig config;
  config.device = device;
  config.tf32 = rounds;
  config.threads = 1;
  config.optimization_level = level;
  config.random_choices = seed;
  if (rounds && seed) {
    config.choose_tactic = one_that_rounds;
    const auto runner = [&](const std::string& model, const Values& inputs) { return run_with_constants(model, inputs, config); };
    return onnx_suite::run_case(test, runner);
  }
  return onnx_suite::run_case(test, {SuiteWay::loaded}, config, {}, engines_for(device)).ways.at(0);
}

}  // namespace tenfold::tests
