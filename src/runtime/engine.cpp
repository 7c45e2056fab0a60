// Engine: loading and saving plans, and what a caller can ask of one.
#include "base/check.h"
#include "plan/inspect.h"
#include "plan/read.h"
#include "plan/verify.h"
#include "plan/write.h"
#include "runtime/plugins.h"
#include "runtime/refit.h"
#include "runtime/state.h"
#include "tenfold/engine.h"

namespace tenfold {
namespace {

Engine open(plan::Plan plan, const LoadOptions& options) {
  const std::string device = options.device.empty() ? plan.device.kind : options.device;
  auto backend = runtime::backend_with(backends::open_backend(device, options.cpu_features), options.plugins);
  runtime::check_machine(plan, backend->info());   // first: what the verifier says of a foreign tactic helps nobody
  plan::verify(plan, *backend, runtime::registry_with(options.plugins.get()));
  return Engine(runtime::open_engine(std::move(plan), options, std::move(backend)));
}

}  // namespace

Engine Engine::load(const std::string& path, const LoadOptions& options) {
  try {
    return open(plan::load(path, {.verify_weights = options.verify_weights, .weights = options.weights, .code = options.device_code}),
                options);
  } catch (Error& e) {
    throw e.within("loading plan '" + path + "'");
  }
}

Engine Engine::load(std::span<const std::byte> bytes, const LoadOptions& options) {
  return open(plan::load(bytes, {.verify_weights = options.verify_weights, .weights = options.weights, .code = options.device_code}),
              options);
}

void Engine::save(const std::string& path) const { plan::save(state_->plan, path); }
const std::vector<BindingInfo>& Engine::bindings() const { return state_->bindings; }
const EngineInfo& Engine::info() const { return state_->info; }

int Engine::binding_index(std::string_view wanted) const {
  std::string names;
  for (std::size_t i = 0; i < state_->bindings.size(); ++i) {
    if (state_->bindings[i].name == wanted) return static_cast<int>(i);
    names += (i ? ", '" : "'") + state_->bindings[i].name + "'";
  }
  fail(ErrorKind::invalid_argument, cat("there is no input or output '", wanted, "'; the engine has ", names));
}

Engine::ProfileShapes Engine::profile_shapes(int profile, std::string_view input) const {
  require(profile >= 0 && profile < static_cast<int>(state_->programs.size()), ErrorKind::invalid_argument, "there is no profile ",
          profile);
  const int index = binding_index(input);
  require(index < state_->inputs, ErrorKind::invalid_argument, "'", input, "' is an output");
  const plan::Program& program = state_->plan.programs[static_cast<std::size_t>(profile)];
  ir::SymbolValues min, opt, max;
  for (const plan::Range& r : program.box) min[r.symbol] = r.min, opt[r.symbol] = r.opt, max[r.symbol] = r.max;
  ProfileShapes shapes;
  for (plan::DimIndex d : program.inputs[static_cast<std::size_t>(index)].dims) {
    const ir::Dim dim = program.dims[static_cast<std::size_t>(d)];
    shapes.min.push_back(dim.evaluate(min)), shapes.opt.push_back(dim.evaluate(opt)), shapes.max.push_back(dim.evaluate(max));
  }
  return shapes;
}

std::string Engine::inspect(int detail) const { return plan::inspect_text(state_->plan, detail); }
std::string Engine::inspect_json() const { return plan::inspect_json(state_->plan); }

Engine Engine::refit(const std::vector<std::pair<std::string, Tensor>>& weights) const {
  return Engine(runtime::open_engine(runtime::refit(*state_, weights), state_->options, state_->backend, state_->constants));
}
std::vector<WeightInfo> Engine::refittable_weights() const {
  std::vector<WeightInfo> list;
  for (const plan::RefitWeight& w : state_->plan.refit.weights) list.push_back({w.name, w.dtype, w.shape, w.fixed});
  return list;
}

std::unique_ptr<ExecutionContext> Engine::create_context() const { return std::make_unique<ExecutionContext>(state_); }

}  // namespace tenfold
