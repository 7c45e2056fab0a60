// How requests wait, by a configuration.
#pragma once

#include "model_config.pb.h"
#include "tenfold/serving/request_queue.h"

namespace tenfold::server {

// Bounds of histograms, by model_metrics. Throws Error for a family that there is not.
void set_histograms(const inference::ModelConfig& config, QueueOptions& queue);
// `queue` has what flags say, which holds where the configuration says nothing.
void set_scheduling(inference::ModelConfig& config, QueueOptions& queue);

}  // namespace tenfold::server
