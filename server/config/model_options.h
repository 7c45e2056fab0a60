// From flags to a model that is loaded.
#pragma once

#include "config/start_table.h"
#include "core/models.h"
#include "serve/serve_flags.h"
#include "text_requests/text_options.h"

namespace tenfold::server {

// Throws Error(invalid_argument) for what the model cannot follow.
ModelOptions model_options(const cli::ServeOptions& options, const std::string& path);
TextOptions text_options(const cli::ServeOptions& options);
// Loads the model and adds it. A failure is told by the row.
StartRow load_model(Models& models, const cli::ServeOptions& options, const std::string& path);

}  // namespace tenfold::server
