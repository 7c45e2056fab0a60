// How requests wait, by a configuration.
#pragma once

#include "model_config.pb.h"
#include "tenfold/serving/request_queue.h"

namespace tenfold::server {

// `queue` has what flags say, which holds where the configuration says nothing.
void set_scheduling(inference::ModelConfig& config, QueueOptions& queue);

}  // namespace tenfold::server
