// Engine: loading and saving plans, and what a caller can ask of one.
#include <utility>

#include "base/check.h"
#include "plan/inspect.h"
#include "plan/read.h"
#include "plan/verify.h"
#include "plan/write.h"
#include "runtime/engine/notes.h"
#include "runtime/engine/open.h"
#include "runtime/engine/refit.h"
#include "runtime/plugins/plugins.h"
#include "runtime/shared/runtime.h"
#include "runtime/shared/device_port.h"
#include "tenfold/device_array.h"
#include "tenfold/engine.h"
#include "tenfold/internal/as_error.h"

namespace tenfold {
namespace {

// Loads one plan for a runtime, with weights that other engines of it have already.
class Loading {
 public:
  explicit Loading(const LoadOptions& options) : options_(runtime::with_runtime(options)) {}

  plan::ReadOptions read() {
    plan::ReadOptions read{.verify_weights = options_.verify_weights, .weights = options_.weights, .code = options_.device_code};
    if (options_.verify_weights)
      read.known_weights = [this](std::span<const std::byte> bytes, std::uint64_t checksum) {
        checksum_ = checksum;
        weights_ = table().find(bytes, checksum, options_.weights);
        return weights_ ? std::shared_ptr<const void>(weights_, weights_->bytes().data()) : nullptr;
      };
    return read;
  }

  Engine open(plan::Plan plan);

 private:
  runtime::WeightsTable& table() { return options_.runtime->impl().weights; }
  // Those of the plan, known to the engines that come.
  std::shared_ptr<runtime::SharedWeights> share(plan::Plan& plan) {
    if (weights_ || !options_.verify_weights || plan.weights_bytes == 0) return weights_;
    auto fresh = std::make_shared<runtime::SharedWeights>(
        plan.weights_owner, std::span(plan.weights, static_cast<std::size_t>(plan.weights_bytes)));
    auto shared = table().find_or_add(fresh, checksum_, options_.weights);
    if (shared != fresh) plan.weights_owner = {shared, shared->bytes().data()}, plan.weights = shared->bytes().data();
    return shared;
  }

  const LoadOptions options_;
  std::shared_ptr<runtime::SharedWeights> weights_;   // that were found
  std::uint64_t checksum_ = 0;
};

Engine Loading::open(plan::Plan plan) {
  const LoadOptions& options = options_;
  const std::string device = options.device.empty() ? plan.device.kind : options.device;
  auto backend = backends::open_backend(device, options.cpu_features, options.runtime->impl().shared);
  runtime::check_machine(plan, backend->info());   // first: what the verifier says of a foreign tactic helps nobody
  plan::verify(plan, runtime::tactics_with(*backend, options.plugins.get()), runtime::registry_with(options.plugins.get()));
  const std::shared_ptr<runtime::SharedWeights> weights = share(plan);
  auto constants = weights ? weights->place(*backend) : nullptr;
  auto state = runtime::open_engine(std::move(plan), options, std::move(backend), std::move(constants));
  state->weights_in_table = weights;
  if (!state->plan.built.clocks.empty()) runtime::note_clocks(*state, state->backend->timing().clocks());
  Engine engine = runtime::engine_of(std::move(state));
  runtime::log_notes(engine.info().notes, options.log);
  return engine;
}

}  // namespace

Engine Engine::load(const std::string& path, const LoadOptions& options) {
  try {
    return as_error([&] {
      Loading loading(options);
      return loading.open(plan::load(path, loading.read()));
    });
  } catch (Error& e) {
    throw e.within("loading plan '" + path + "'");
  }
}

Engine Engine::load(std::span<const std::byte> bytes, const LoadOptions& options) {
  return as_error([&] {
    Loading loading(options);
    return loading.open(plan::load(bytes, loading.read()));
  });
}

Engine Engine::load(const PlanReader& reader, const LoadOptions& options) {
  return as_error([&] {
    Loading loading(options);
    return loading.open(plan::load(reader, loading.read()));
  });
}

void Engine::save(const std::string& path) const { plan::save(state_->plan, path); }
void Engine::save(const PlanWriter& write) const {
  require(write != nullptr, ErrorKind::invalid_argument, "there is no function that takes the plan's bytes");
  plan::write(state_->plan, write);
}
std::vector<std::byte> Engine::serialize() const {
  std::vector<std::byte> bytes;
  plan::write(state_->plan, [&](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  return bytes;
}
const std::map<std::string, std::string>& Engine::labels() const { return state_->plan.labels; }
const std::vector<BindingInfo>& Engine::bindings() const { return state_->bindings; }
const EngineInfo& Engine::info() const { return state_->info; }
std::string device_of(const Engine& engine) { return runtime::numbered(*runtime::state_of(engine)->backend); }
std::int64_t Engine::gpu_bytes() const { return state_->backend->memory().allocated_bytes(); }

int Engine::binding_index(std::string_view requested) const {
  std::string names;
  for (std::size_t i = 0; i < state_->bindings.size(); ++i) {
    if (state_->bindings[i].name == requested) return static_cast<int>(i);
    names += (i ? ", '" : "'") + state_->bindings[i].name + "'";
  }
  fail(ErrorKind::invalid_argument, cat("there is no input or output '", requested, "'; the engine has ", names));
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
PlanInspection Engine::inspection() const { return plan::inspect_data(state_->plan); }

Engine Engine::refit(const std::vector<std::pair<std::string, Tensor>>& weights) const {
  plan::Plan plan = runtime::refit(*state_, weights);
  const bool kept = !std::exchange(plan.kept, {}).text.empty();   // its weights are the old ones
  auto refitted = runtime::open_engine(std::move(plan), state_->options, state_->backend, state_->constants);
  refitted->weights_in_table = state_->weights_in_table;
  if (kept)
    refitted->info.notes.push_back({Severity::warning, NoteKind::message, "",
                                    "the plan no longer keeps the model that it was built from, for that has the old weights: it is not "
                                    "compatible with other versions and devices any more"});
  return runtime::engine_of(std::move(refitted));
}
std::vector<WeightInfo> Engine::refittable_weights() const {
  std::vector<WeightInfo> list;
  for (const plan::RefitWeight& w : state_->plan.refit.weights) list.push_back({w.name, w.dtype, w.shape, w.fixed});
  return list;
}

}  // namespace tenfold
