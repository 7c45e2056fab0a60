#include "builder/precision/observed_runs.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>

#include "base/threads/cpu_count.h"
#include "base/threads/spread.h"
#include "builder/open_built.h"
#include "builder/plan_maker.h"
#include "builder/precision/value_turns.h"
#include "passes/pass.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {

namespace {

using Values = std::set<std::string, std::less<>>;
constexpr std::int64_t kWorthAThread = 1 << 20;   // spread() goes by bytes

// Contexts that side by side may take together, beside the first.
constexpr std::int64_t kMaxMemory = std::int64_t{1} << 30;
constexpr std::size_t kMaxSideBySide = 8;   // as many as spread() has threads

std::size_t side_by_side(const plan::Plan& plan) {
  std::int64_t arena = 1;
  for (const plan::Program& program : plan.programs) arena = std::max(arena, program.arena_bytes);
  const auto by_memory = static_cast<std::size_t>(kMaxMemory / arena);
  return std::clamp<std::size_t>(by_memory, 1, std::min(kMaxSideBySide, static_cast<std::size_t>(default_threads())));
}

}  // namespace

struct ObservedRuns::Impl {
  BuildConfig plain;
  std::vector<std::string> inputs, outputs;
  std::optional<Engine> engine;
  std::size_t at_once = 1;
  std::mutex mutex;
  std::vector<std::unique_ptr<ExecutionContext>> idle;

  std::unique_ptr<ExecutionContext> take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto context = std::move(idle.back());
        idle.pop_back();
        return context;
      }
    }
    return engine->create_context();
  }
  void give_back(std::unique_ptr<ExecutionContext> context) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(context));
  }
  std::vector<RuntimeValue> run(const InputSet& sample, const Look& look, const Values& values) {
    const std::vector<RuntimeValue> given = in_order(sample, inputs);
    std::unique_ptr<ExecutionContext> context = take();
    if (look) {
      std::map<std::string, std::string, std::less<>> first;   // step that showed a value: others only change how it lies in memory
      for (const std::string& name : inputs)
        if (first[name]; values.empty() || values.count(name)) look(name, sample.at(name));
      context->set_observer([&look, first](std::string_view step, std::string_view value, const Tensor& result) mutable {
        if (first.emplace(value, step).first->second == step) look(value, result);
      }, values);
    }
    std::vector<RuntimeValue> outputs = run_values(*context, given);
    if (look) context->set_observer({});
    give_back(std::move(context));
    return outputs;
  }
};

ObservedRuns::ObservedRuns(ir::Graph graph, const std::vector<plan::Range>& ranges, const BuildConfig& config, Processors processors)
    : impl_(std::make_unique<Impl>()) {
  BuildConfig& plain = impl_->plain;
  plain.optimization_level = 0, plain.keep_portable_graph = false, plain.tf32 = false, plain.plugins = config.plugins;
  for (const ir::Value* v : graph.inputs) impl_->inputs.push_back(v->name);
  for (const ir::Value* v : graph.outputs) impl_->outputs.push_back(v->name);
  auto backend = backends::open_backend("cpu", config.cpu_features);
  BuildReport unused;
  PlanMaker maker(plain, "", backend, unused);
  maker.add(std::move(graph), ranges);
  plan::Plan plan = maker.finish();
  if (processors == Processors::side_by_side) {
    impl_->at_once = side_by_side(plan);
    plain.threads = std::max(1, default_threads() / static_cast<int>(impl_->at_once));
  }
  impl_->engine = open_built(std::move(plan), plain, backend);
  impl_->give_back(impl_->engine->create_context());
}
ObservedRuns::~ObservedRuns() = default;

std::vector<RuntimeValue> ObservedRuns::run(const InputSet& inputs) { return impl_->run(inputs, {}, {}); }

std::vector<RuntimeValue> ObservedRuns::run(const InputSet& inputs, const Look& look, const Values& values) {
  return impl_->run(inputs, look, values);
}

const std::vector<std::string>& ObservedRuns::outputs() const { return impl_->outputs; }

std::size_t ObservedRuns::good_batch() const { return impl_->at_once == 1 ? 1 : 4 * impl_->at_once; }

std::vector<std::vector<RuntimeValue>> ObservedRuns::run_all(const Batch& batch, const Look& look, const Values& values) {
  const std::size_t count = batch.samples.size();
  std::vector<std::vector<RuntimeValue>> outputs(count);
  std::vector<std::exception_ptr> failed(count);
  ValueTurns turns(count);
  const auto one = [&](std::size_t i) {
    Look in_turn;
    if (look)
      in_turn = [&, i](std::string_view value, const Tensor& t) { turns.take(i, value, [&] { look(value, t); }); };
    try {
      in_sample(batch.number(i), [&] { outputs[i] = impl_->run(batch.samples[i], in_turn, values); });
    } catch (...) {
      failed[i] = std::current_exception();
    }
    turns.end(i);
  };
  std::atomic<std::size_t> next = 0;   // spread() begins its parts in this order, too, but on more threads
  const MaySpread may;
  const std::int64_t workers = static_cast<std::int64_t>(std::min(impl_->at_once, count));
  spread(workers, workers * kWorthAThread, [&](std::int64_t) {
    for (std::size_t i; (i = next++) < count;) one(i);
  });
  for (const std::exception_ptr& e : failed)
    if (e) std::rethrow_exception(e);
  return outputs;
}

void lower_for_kernels(ir::Graph& graph) {
  std::vector<passes::Pass> list;
  for (const char* name : {"lower_gemm", "lower_einsum", "fold_constants", "fold_batchnorm"}) list.push_back(passes::find_pass(name));
  passes::run(graph, list);
}

std::vector<RuntimeValue> in_order(const InputSet& inputs, const std::vector<std::string>& names) {
  std::vector<RuntimeValue> given;
  for (const std::string& name : names) {
    const auto at = inputs.find(name);
    require(at != inputs.end(), ErrorKind::invalid_argument, "a sample has no value for the input '", name, "'");
    given.emplace_back(at->second);
  }
  return given;
}

}  // namespace tenfold::builder
