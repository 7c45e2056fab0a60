// How the server has engines built: by another process, with times of earlier builds, and what it says meanwhile.
#pragma once

#include <functional>
#include <string>

#include "serve/serve_flags.h"
#include "tenfold/serving/served_model.h"

namespace tenfold::server {

// "tuning 37 of 120"
std::string progress_text(const Progress& step);
// After `served.cache` and `served.build` are set.
void set_build_options(ServedModelOptions& served, const cli::ServeOptions& options);
// Has `report` called with progress_text(), in the thread that loads the model.
void set_progress(ServedModelOptions& served, std::function<void(const std::string& text)> report);

}  // namespace tenfold::server
