// The statistics of all models at one moment, for routes that show them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/models.h"

namespace tenfold::server {

struct SampledModel {
  std::string labels;                            // of Prometheus, without braces
  QueueStatistics statistics;
  std::uint64_t refused = 0;
  std::shared_ptr<const Model> model;
};
std::vector<SampledModel> sample_models(const Models& models);

}  // namespace tenfold::server
