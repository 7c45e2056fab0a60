#include "text/transformers/plans.h"

#include "tenfold/device.h"
#include "text/fail.h"

namespace tenfold::transformers {

LoadOptions load_options(const BuildConfig& config) {
  LoadOptions load;
  load.threads = config.threads, load.pin_threads = config.pin_threads, load.cpu_features = config.cpu_features;
  if (is_gpu(config.device)) load.device = config.device;
  load.plugins = config.plugins, load.log = config.log, load.runtime = config.runtime;
  return load;
}

std::optional<PlanCache> open_cache(const std::optional<PlanCacheOptions>& options, const LogCallback& log) {
  if (!options) return std::nullopt;
  try {
    return PlanCache(*options);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::io) throw;
    if (log) log(Severity::warning, std::string("plans are not kept: ") + e.what());
    return std::nullopt;
  }
}

void need(const ExecutionContext& context, Status status, const char* what) {
  if (status) return;
  ErrorKind kind = ErrorKind::internal;
  if (status.code == Status::out_of_memory) kind = ErrorKind::out_of_memory;
  if (status.code == Status::device) kind = ErrorKind::device;
  if (status.code == Status::cancelled || status.code == Status::deadline) kind = ErrorKind::cancelled;
  tokenizing::fail(kind, std::string("running ") + what + ": " + context.describe(status));
}

}  // namespace tenfold::transformers
