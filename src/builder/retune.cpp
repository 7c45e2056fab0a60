// Re-tuning: a plan's portable graphs through the tuner once more, on this machine.
#include "base/log.h"
#include "builder/exact_forms.h"
#include "builder/plan_maker.h"
#include "ir/op_def.h"
#include "plan/read.h"
#include "plan/verify.h"
#include "runtime/plugins.h"
#include "runtime/state.h"

namespace tenfold::builder {
namespace {

// This version's tactics for the machine that a plan was made on: to check the plan and to undo its packings, never to run.
class ForeignBackend final : public backends::Backend {
 public:
  ForeignBackend(backends::Backend& here, const backends::DeviceInfo& device) : here_(here), device_(device) {}
  std::string_view name() const override { return here_.name(); }
  const backends::DeviceInfo& info() const override { return device_; }
  const std::vector<backends::Tactic>& tactics() const override { return here_.tactics(); }
  std::shared_ptr<void> allocate(std::int64_t) override { refuse(); }
  std::unique_ptr<backends::Stream> open_stream(const backends::StreamOptions&) override { refuse(); }
  double measure(backends::Stream&, const backends::Tactic&, const void*, const backends::RunArgs&,
                 const backends::MeasureBudget&) override {
    refuse();
  }

 private:
  [[noreturn]] static void refuse() { fail(ErrorKind::internal, "nothing runs on another machine's device"); }
  backends::Backend& here_;
  const backends::DeviceInfo& device_;
};

Engine retune(const plan::Plan& old, const BuildConfig& config, BuildReport& report) {
  require(config.profiles.empty(), ErrorKind::invalid_argument, "re-tuning keeps the plan's profiles; build the model again for others");
  auto backend = runtime::backend_with(backends::open_backend(config.device, config.cpu_features), config.plugins);
  const ir::Registry& registry = runtime::registry_with(config.plugins.get());
  require(old.device.kind == backend->info().kind, ErrorKind::plan_refused, "the plan was built for '", old.device.kind,
          "', this device is '", backend->info().kind, "'");
  require(!config.refittable || !old.refit.weights.empty(), ErrorKind::unsupported,
          "re-tuning cannot make a plan refittable: build it again with BuildConfig::refittable (--refit)");
  Stopwatch watch;
  ForeignBackend foreign(*backend, old.device);
  plan::verify(old, foreign, registry);
  PortableModel model = read_portable(old, foreign, registry, config.tf32);
  if (model.rounded)
    Log(config.log)(Severity::warning,
                    "the plan holds float32 weights as its kernels multiply them, rounded: these are the model from here on "
                    "(a build with --noTF32 keeps all bits)");
  report.import_s = watch.seconds();
  PlanMaker maker(config, old.model_name, *backend, report);
  maker.take_over(old, model.rounded);
  if (old.device.kind == "cpu") {
    if (!model.graphs.empty()) tell_of_fused_attention(model.graphs[0], config);
    for (ir::Graph& graph : model.graphs) forbid(graph, config);
  }
  for (std::size_t i = 0; i < model.graphs.size(); ++i) maker.add(std::move(model.graphs[i]), old.programs[i].box);
  plan::Plan plan = maker.finish();
  plan::verify(plan, *backend, registry);  // the graphs came from a file
  return open_built(std::move(plan), config, std::move(backend));
}

}  // namespace
}  // namespace tenfold::builder

namespace tenfold {

Engine retune(const Engine& engine, const BuildConfig& config, BuildReport* report) {
  BuildReport unused;
  return builder::retune(engine.state()->plan, config, report ? *report : unused);
}

Engine retune_file(const std::string& path, const BuildConfig& config, BuildReport* report) {
  BuildReport unused;
  try {
    return builder::retune(plan::load(path, {.weights = WeightsMode::map}), config, report ? *report : unused);
  } catch (Error& e) {
    throw e.within("re-tuning plan '" + path + "'");
  }
}

}  // namespace tenfold
