#include "builder/precision/observed_runs.h"

#include "builder/open_built.h"
#include "builder/plan_maker.h"
#include "passes/pass.h"
#include "tenfold/bindings.h"

namespace tenfold::builder {

struct ObservedRuns::Impl {
  BuildConfig plain;
  std::vector<std::string> inputs;
  std::unique_ptr<ExecutionContext> context;
};

ObservedRuns::ObservedRuns(ir::Graph graph, const std::vector<plan::Range>& ranges, const BuildConfig& config)
    : impl_(std::make_unique<Impl>()) {
  BuildConfig& plain = impl_->plain;
  plain.optimization_level = 0, plain.keep_portable_graph = false, plain.tf32 = false, plain.plugins = config.plugins;
  for (const ir::Value* v : graph.inputs) impl_->inputs.push_back(v->name);
  auto backend = backends::open_backend("cpu", config.cpu_features);
  BuildReport unused;
  PlanMaker maker(plain, "", *backend, unused);
  maker.add(std::move(graph), ranges);
  impl_->context = open_built(maker.finish(), plain, backend).create_context();
}
ObservedRuns::~ObservedRuns() = default;

std::vector<RuntimeValue> ObservedRuns::run(const InputSet& inputs) {
  return run_values(*impl_->context, in_order(inputs, impl_->inputs));
}

std::vector<RuntimeValue> ObservedRuns::run(const InputSet& inputs, const Look& look, const std::set<std::string, std::less<>>& values) {
  const std::vector<RuntimeValue> given = in_order(inputs, impl_->inputs);
  for (const std::string& name : impl_->inputs)
    if (values.empty() || values.count(name)) look(name, inputs.at(name));
  impl_->context->set_observer([&look](std::string_view, std::string_view value, const Tensor& result) { look(value, result); }, values);
  std::vector<RuntimeValue> outputs = run_values(*impl_->context, given);
  impl_->context->set_observer({});
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
