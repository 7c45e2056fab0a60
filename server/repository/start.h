// The models of the start, by the command line.
#pragma once

#include "config/start_table.h"
#include "core/models.h"
#include "serve/serve_flags.h"

namespace tenfold::server {

// Loads the repositories' models, or the one of `path` (empty: none). Returns when all are loaded or have failed. Throws Error.
// `before`, `changed`: as RepositoryOptions has them.
std::vector<StartRow> load_models(Models& models, const cli::ServeOptions& options, const std::string& path,
                                  std::vector<ModelChange> before, std::function<void(const ModelChange&)> changed);

// The completed configuration of a model's folder, a model file or an encoder's folder (--print-model-config), as text. Lines of what
// changes nothing, and of why requests are not batched, go to stderr. Throws Error.
std::string completed_config(const cli::ServeOptions& options);

}  // namespace tenfold::server
