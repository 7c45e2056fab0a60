#include "builder/rebuild/load_options.h"

namespace tenfold::builder {

LoadOptions load_options(const BuildConfig& config) {
  return {.cpu_features = config.cpu_features,
          .device = config.device,
          .threads = config.threads,
          .pin_threads = config.pin_threads,
          .plugins = config.plugins,
          .log = config.log,
          .runtime = config.runtime};
}

}  // namespace tenfold::builder
