// Loading a plan that may come from another version or machine, and building it again from the model that it keeps.
#include "base/files/file.h"
#include "base/log.h"
#include "builder/builder.h"
#include "builder/model/model.h"
#include "builder/rebuild/kept_model.h"
#include "plan/read.h"
#include "runtime/engine/opened.h"
#include "runtime/plugins/plugins.h"
#include "runtime/shared/runtime.h"
#include "tenfold/fallback_chain.h"

namespace tenfold {
namespace {

BuildConfig config_for(const builder::ModelOfPlan& model, const LoadOptions& options) {
  BuildConfig config = model.config;
  config.optimization_level = 0;   // a load is to be quick
  config.device = options.device.empty() ? model.kind : options.device;
  config.threads = options.threads, config.pin_threads = options.pin_threads;
  config.cpu_features = options.cpu_features;
  config.plugins = options.plugins, config.log = options.log, config.runtime = options.runtime;
  return config;
}

Engine build_again(const plan::KeptPart& kept, const LoadOptions& options, const std::string& why) {
  builder::ModelOfPlan model = builder::read_kept_model(kept.model, runtime::registry_with(options.plugins.get()));
  model.config.labels = kept.labels;
  const std::string text = cat("the plan is built again, at level 0, from the model that it keeps: ", why);
  Log(runtime::with_runtime(options).log)(Severity::warning, text);
  builder::Model again = builder::model_of(model.graph, model.name);
  again.known = [&](builder::Findings& findings) { findings.ranges = model.ranges, findings.calibration = model.calibration; };
  BuildReport unused;
  Engine engine = builder::build(again, config_for(model, options), unused);
  std::vector<Note>& notes = runtime::state_of(engine)->info.notes;
  notes.insert(notes.begin(), {Severity::warning, NoteKind::rebuilt, "", text});
  return engine;
}

// `read` gives the model that the plan keeps. It throws where the plan is damaged, of which the first error says more.
template <class Load, class Read>
Engine load_or_build(Load load, Read read, const LoadOptions& options) {
  std::string why;
  plan::KeptPart kept;
  try {
    return load();
  } catch (const Error& refused) {
    if (refused.kind() != ErrorKind::plan_refused) throw;
    why = refused.what();
    try {
      kept = read();
    } catch (const Error&) {}
    if (kept.model.text.empty()) throw;
  }
  return build_again(kept, options, why);
}

}  // namespace

Engine load_compatible(const std::string& path, const LoadOptions& options) {
  return load_or_build([&] { return Engine::load(path, options); },
                       [&] {
                         const auto file = MappedFile::read(path);
                         return plan::read_kept(file->bytes(), file);
                       },
                       options);
}

EngineCandidate compatible_candidate(const std::string& path, const std::string& device, LoadOptions options) {
  EngineCandidate candidate = plan_candidate(path, device, options);
  if (!device.empty()) options.device = device;
  candidate.open = [path, options] { return load_compatible(path, options); };
  return candidate;
}

Engine load_compatible(std::span<const std::byte> bytes, const LoadOptions& options) {
  return load_or_build([&] { return Engine::load(bytes, options); }, [&] { return plan::read_kept(bytes, nullptr); }, options);
}

}  // namespace tenfold
