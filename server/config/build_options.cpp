#include "config/build_options.h"

#include <chrono>

namespace tenfold::server {
namespace {

constexpr std::chrono::milliseconds kBetween{100};   // reports

}  // namespace

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

LoadProgress::LoadProgress(ServedModelOptions& served, std::function<void(const std::string&)> report) {
  const auto last = std::make_shared<std::chrono::steady_clock::time_point>();
  served.build.progress = [report = std::move(report), last, active = active_](const Progress& step) {
    const auto now = std::chrono::steady_clock::now();
    if (!*active || (now - *last < kBetween && step.done < step.total)) return true;
    *last = now;
    report(progress_text(step));
    return true;
  };
}

}  // namespace tenfold::server
