// A model whose memory is given back while nobody asks for it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "tenfold/serving/served_model.h"

namespace tenfold::server {

// Opens the model. When none of its instances has run for `after`, model and instances are let go; the next run opens them anew, which
// takes as long as loading from the plan cache. What is known of the bindings stays. Throws what `open` throws.
std::shared_ptr<ServedModel> open_unloading(std::function<std::shared_ptr<ServedModel>()> open, std::chrono::seconds after);

}  // namespace tenfold::server
