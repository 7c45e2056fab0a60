// What flags say of all models, and configurations may say otherwise.
#pragma once

#include "config/complete_config.h"
#include "config/text_defaults.h"
#include "core/models.h"
#include "serve/serve_flags.h"

namespace tenfold::server {

struct ModelDefaults {
  ModelOptions base;
  Completion completion;
  TextDefaults text;
  std::string plan_cache_folder;
  bool dynamic_batching = false;                 // --max-queue-delay-us and the like ask for it
};
// Throws Error(invalid_argument).
ModelDefaults model_defaults(const cli::ServeOptions& options);

}  // namespace tenfold::server
