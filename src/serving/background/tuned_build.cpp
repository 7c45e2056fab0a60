// Tuned builds: by another process or here, and their place in the cache.
#include "background/tuned_build.h"

#include "backends/cuda/device/library.h"
#include "background/build_process.h"
#include "base/files/own_program.h"
#include "builder/rebuild/load_options.h"
#include "runtime/plugins/plugins.h"
#include "runtime/shared/runtime.h"

namespace tenfold::background {
namespace {

Engine build_elsewhere(const Model& model, BuildConfig config, const std::string& program, const BuildWatch* caller) {
  const LoadOptions load = builder::load_options(config);
  if (config.threads == 0) config.threads = runtime::threads_of(*runtime::runtime_of(config.runtime));
  BuildRequest request{.key = model.key(config),
                       .path = model.path,
                       .library_places = backends::cuda::added_places(),
                       .library_files = backends::cuda::opened_files(),
                       .plugin_libraries = {},
                       .config = config};
  if (config.plugins) request.plugin_libraries = config.plugins->impl().libraries;
  return build_in_process(program, std::move(request), model.bytes, load, caller);
}

}  // namespace

Engine Model::build(const BuildConfig& config) const { return path.empty() ? build_bytes(bytes, config) : build_file(path, config); }

std::string why_in_this_process(const BuildConfig& config, std::string& program) {
  if (std::string why = why_not_elsewhere(config); !why.empty()) return why;
  if (program.empty()) program = own_program({"tenfold", "bin/tenfold", "../bin/tenfold", "../../bin/tenfold"});
  return program.empty() ? "the program 'tenfold' is not beside the library (ModelEnginesOptions::tuner names it)" : "";
}

std::string tuned_key(const Model& model, BuildConfig config) {
  for (OptimizationProfile& profile : config.profiles)
    for (auto& [name, range] : profile) range.opt = range.max;
  return "tuned in the background\n" + model.key(config);
}

Engine build_tuned(const Model& model, const BuildConfig& config, const std::string& program, const PlanCache* cache) {
  const auto make = [&] {
    return program.empty() ? model.build(config) : build_elsewhere(model, config, program, nullptr);
  };
  return cache ? cache->get(tuned_key(model, config), make, builder::load_options(config)) : make();
}

Engine build_for_caller(const Model& model, const BuildConfig& config, const std::string& program, const PlanCache* cache, bool& built) {
  if (program.empty()) {
    bool cached = false;
    Engine engine = !cache               ? model.build(config)
                    : model.path.empty() ? build_bytes(model.bytes, config, *cache, "", &cached)
                                         : build_file(model.path, config, *cache, "", &cached);
    built = !cached;
    return engine;
  }
  built = false;
  const auto make = [&] {
    built = true;
    const BuildWatch caller{config.log, config.progress};
    return build_elsewhere(model, config, program, &caller);
  };
  return cache ? cache->get(model.key(config), make, builder::load_options(config)) : make();
}

}  // namespace tenfold::background
