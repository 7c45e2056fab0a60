// Building, running, saving and loading for the suite; see optimized_suite.h.
#include "optimized_suite.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <set>

#include "backends/backend.h"
#include "backends/tactic.h"
#include "base/check.h"
#include "base/types/element.h"
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

namespace fs = std::filesystem;

// A temporary file's name that is its own in this process and among processes.
class TemporaryFile {
 public:
  TemporaryFile() {
    static std::atomic<int> next = 0;
    path_ = fs::temp_directory_path() / cat("tenfold_suite_", ::getpid(), "_", next++, ".plan");
  }
  ~TemporaryFile() {
    std::error_code gone_already;
    fs::remove(path_, gone_already);
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

bool same_bits(const ops::RuntimeValue& a, const ops::RuntimeValue& b);
bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) { return same_bits(x, y); });
}
bool same_bits(const ops::RuntimeValue& a, const ops::RuntimeValue& b) {
  if (a.index() != b.index() || a.empty()) return a.empty() && b.empty();
  if (a.is_sequence()) return same_bits(a.elements(), b.elements());
  if (a.is_map()) return same_bits(a.as_map().keys, b.as_map().keys) && same_bits(a.as_map().values, b.as_map().values);
  const Tensor &x = a.tensor(), &y = b.tensor();
  if (x.dtype() != y.dtype() || x.shape() != y.shape()) return false;
  if (x.dtype() == DType::string) return x.string_values() == y.string_values();
  return std::memcmp(x.raw(), y.raw(), static_cast<std::size_t>(x.bytes())) == 0;
}

OptimizationProfile profile_of(const ir::Graph& graph, const Values& inputs) {
  OptimizationProfile profile;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value& input = *graph.inputs.at(i);
    if (!input.type.is_tensor()) continue;
    const Shape& shape = inputs[i].tensor().shape();
    profile[input.name] = {shape, shape, shape};
  }
  return profile;
}

// The CPU's tactics on a device whose memory the host cannot read: what a GPU asks of the runtime, anywhere.
constexpr const char* kFar = "far";

Engine build_for(const fs::path& model, const BuildConfig& config) {
  if (config.device != kFar) return build_file(model.string(), config);
  BuildReport report;
  auto backend = std::make_shared<runtime::FarBackend>();
  const ir::Graph graph = onnx_import::import_file(model, builder::import_options(config), ir::Registry::builtin());
  return builder::open_built(builder::build_plan(graph, config, "", backend, report), config, backend);
}
Engine load_for(const std::string& path, const BuildConfig& config) {
  const LoadOptions options{.threads = config.threads};
  if (config.device != kFar) return Engine::load(path, options);
  auto backend = std::make_shared<runtime::FarBackend>();
  plan::Plan plan = plan::load(path, {});
  plan::verify(plan, *backend, ir::Registry::builtin());
  return runtime::engine_of(runtime::open_engine(std::move(plan), options, backend));
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

Values run_with_constants(const fs::path& model, const Values& inputs, const BuildConfig& config) {
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
  fixed.profiles = {profile_of(graph, given)};
  std::shared_ptr<backends::Backend> backend = backends::open_backend("cpu");
  BuildReport report;
  const Engine engine = builder::open_built(builder::build_plan(graph, fixed, "", backend, report), fixed, backend);
  count_rounding(engine);
  return run_values(*engine.create_context(), given);
}

}  // namespace

std::int64_t rounding_steps() { return g_rounding_steps; }

Values run_optimized(const fs::path& model, const Values& inputs, const BuildConfig& config) {
  BuildConfig fixed = config;
  fixed.profiles = {profile_of(onnx_import::import_file(model), inputs)};
  const Engine built = build_for(model, fixed);
  count_rounding(built);
  const Values results = run_values(*built.create_context(), inputs);

  const TemporaryFile file;
  built.save(file.path());
  const Values again = run_values(*load_for(file.path(), config).create_context(), inputs);
  require(again.size() == results.size(), ErrorKind::internal, "the loaded plan has ", again.size(), " outputs instead of ",
          results.size());
  const bool random = model.string().find("bernoulli") != std::string::npos;
  for (std::size_t i = 0; i < results.size(); ++i)
    require(random || same_bits(results[i], again[i]), ErrorKind::internal, "output ", i, " of the loaded plan differs: ",
            difference(again[i], results[i], 0, 0));
  return results;
}

Runner optimized_runner(std::uint64_t seed, const std::string& device, int level, bool rounds) {
  BuildConfig config;
  config.device = device;
  config.tf32 = rounds;
  config.threads = 1;
  config.optimization_level = level;
  config.random_choices = seed;
  if (rounds && seed) config.choose_tactic = one_that_rounds;
  const bool constants = rounds && seed != 0;
  return [config, constants](const fs::path& model, const Values& inputs) {
    return constants ? run_with_constants(model, inputs, config) : run_optimized(model, inputs, config);
  };
}

}  // namespace tenfold::tests
