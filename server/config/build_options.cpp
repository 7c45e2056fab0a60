#include "config/build_options.h"

namespace tenfold::server {

std::string progress_text(const Progress& step) {
  const std::string doing = step.phase == "tune" ? "tuning" : step.phase == "confirm" ? "confirming times," : std::string(step.phase);
  return doing + " " + std::to_string(step.done) + " of " + std::to_string(step.total);
}

void set_build_options(ServedModelOptions& served, const cli::ServeOptions& options) {
  served.isolate_builds = true;
  served.fallback_at_runs = options.model.fallback != "off";
  if (!served.fallback_at_runs) served.fallback = false;
  // Beside the plans: problems keep their times where only weights change.
  if (served.cache) served.build.timing_cache = served.cache->folder() + "/times";
}

void set_progress(ServedModelOptions& served, std::function<void(const std::string&)> report) {
  served.build.progress = [report = std::move(report)](const Progress& step) { return report(progress_text(step)), true; };
}

}  // namespace tenfold::server
