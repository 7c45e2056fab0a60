// What a configuration says of a model's metrics: `model_metrics`, the bounds of histograms.
#pragma once

#include "model_config.pb.h"
#include "tenfold/serving/request_queue.h"

namespace tenfold::server {

// Throws Error(invalid_argument) for a family that is no histogram of the server's, and for bounds that do not rise.
void set_metrics(const inference::ModelConfig& config, QueueOptions& queue);

}  // namespace tenfold::server
