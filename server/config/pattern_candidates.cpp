#include "config/pattern_candidates.h"

#include <filesystem>

#include "tenfold/build.h"
#include "tenfold/fallback_chain.h"

namespace tenfold::server {
namespace {

// A model behind others is what is left where these fail: built for the CPU, without timing anything.
EngineCandidate candidate(const std::string& path, bool is_first, const cli::ModelFlags& flags) {
  if (!path.ends_with(".onnx")) {
    LoadOptions load;
    load.threads = flags.threads;
    return compatible_candidate(path, is_first ? flags.device : "", load);
  }
  BuildConfig config;
  config.device = is_first && !flags.device.empty() ? flags.device : "cpu";
  config.threads = flags.threads;
  if (!is_first || flags.tune == "never") config.optimization_level = 0;
  EngineCandidate made = model_candidate(path, config);
  made.name = config.device;
  return made;
}

}  // namespace

std::shared_ptr<PatternEngine> pattern_engine(const cli::ServeOptions& options) {
  const std::vector<std::string>& paths = options.pattern.engines;
  if (paths.empty()) return nullptr;
  std::vector<EngineCandidate> candidates;
  for (const std::string& path : paths) candidates.push_back(candidate(path, candidates.empty(), options.model));
  return std::make_shared<PatternEngine>(std::move(candidates));
}

}  // namespace tenfold::server
