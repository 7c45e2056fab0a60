// Re-tuning: a plan's portable graphs through the tuner once more, on this machine.
#include "backends/device_traits.h"
#include "base/log.h"
#include "builder/diagnostics.h"
#include "builder/open_built.h"
#include "builder/options_text.h"
#include "builder/plan_maker.h"
#include "builder/reference_shares.h"
#include "builder/stopwatch.h"
#include "builder/time_limit.h"
#include "ir/op_def.h"
#include "passes/precision/notes.h"
#include "passes/precision/numerics.h"
#include "plan/read.h"
#include "plan/verify.h"
#include "runtime/engine/opened.h"
#include "runtime/plugins/plugins.h"
#include "runtime/shared/runtime.h"
#include "tenfold/internal/as_error.h"

namespace tenfold::builder {
namespace {

Engine retune(const plan::Plan& old, const BuildConfig& given, BuildReport& report) {
  const Diagnostics book;
  const TimeLimit limit(given);
  const BuildConfig config = book.listening(runtime::with_runtime(given));
  require(config.profiles.empty(), ErrorKind::invalid_argument, "re-tuning keeps the plan's profiles; build the model again for others");
  require(config.input_formats.empty() && config.output_formats.empty() && config.overridable.empty() && config.input_defaults.empty(),
          ErrorKind::invalid_argument,
          "re-tuning keeps the plan's inputs and outputs; build the model again for other types, orders or defaults");
  auto backend = backends::open_backend(config.device, config.cpu_features, config.runtime->impl().shared);
  const ir::Registry& registry = runtime::registry_with(config.plugins.get());
  require(old.device.kind == backend->info().kind, ErrorKind::plan_refused, "the plan was built for '", old.device.kind,
          "', this device is '", backend->info().kind, "'");
  require(!config.refittable || !old.refit.weights.empty(), ErrorKind::unsupported,
          "re-tuning cannot make a plan refittable: build it again with BuildConfig::refittable (--refit)");
  Stopwatch watch;
  const backends::TacticSet tactics = runtime::tactics_with(*backend, config.plugins.get()), foreign = tactics.as_on(old.device);
  plan::verify(old, foreign, registry);
  PortableModel model = read_portable(old, foreign, registry, config.tf32);
  if (model.rounded)
    Log(config.log)(Severity::warning,
                    "the plan holds float32 weights as its kernels multiply them, rounded: these are the model from here on "
                    "(a build with --noTF32 keeps all bits)");
  report.import_s = watch.seconds();
  PlanMaker maker(config, old.model_name, backend, report);
  maker.take_over(old, model.rounded);
  const backends::DeviceTraits traits = backends::traits_of(old.device);
  if (!model.graphs.empty()) passes::warn_of_fused_attention(model.graphs[0], config, traits);
  if (const plan::Names names = plan::read_names(old); !names.programs.empty())
    for (std::size_t i = 0; i < model.graphs.size(); ++i) adopt_names(model.graphs[i], names, i);
  for (ir::Graph& graph : model.graphs) passes::permit_again(graph, config, backends::traits_of(backend->info()));
  for (std::size_t i = 0; i < model.graphs.size(); ++i) maker.add(std::move(model.graphs[i]), old.programs[i].box);
  plan::Plan plan = maker.finish();
  plan.built.options += precision_in_words(old.built.options);   // its types stay, and what they cost
  plan::verify(plan, tactics, registry);  // the graphs came from a file
  Engine engine = open_built(std::move(plan), config, std::move(backend));
  hand_over(book, report, engine);
  measure_reference_steps(engine, config);
  return engine;
}

}  // namespace
}  // namespace tenfold::builder

namespace tenfold {

Engine retune(const Engine& engine, const BuildConfig& config, BuildReport* report) {
  BuildReport unused;
  return as_error([&] { return builder::retune(runtime::state_of(engine)->plan, config, report ? *report : unused); });
}

Engine retune_file(const std::string& path, const BuildConfig& config, BuildReport* report) {
  BuildReport unused;
  try {
    return as_error([&] { return builder::retune(plan::load(path), config, report ? *report : unused); });
  } catch (Error& e) {
    throw e.within("re-tuning plan '" + path + "'");
  }
}

}  // namespace tenfold
