// How the server has engines built: by another process, with times of earlier builds, and what it says meanwhile.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "serve/serve_flags.h"
#include "tenfold/serving/served_model.h"

namespace tenfold::server {

// "tuning 37 of 120"
std::string progress_text(const Progress& step);
// After `served.cache` and `served.build` are set.
void set_build_options(ServedModelOptions& served, const cli::ServeOptions& options);
// While it lives, builds of a model that is opened with these options call `report` with progress_text(), ten times a second at most.
class LoadProgress {
 public:
  LoadProgress(ServedModelOptions& served, std::function<void(const std::string& text)> report);
  ~LoadProgress() { *active_ = false; }
  LoadProgress(const LoadProgress&) = delete;
  LoadProgress& operator=(const LoadProgress&) = delete;

 private:
  std::shared_ptr<std::atomic<bool>> active_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace tenfold::server
