// What is wrong with a request for a model, in Triton's words, which people search for.
#pragma once

#include "core/inference.h"

namespace tenfold::server {

// Puts the inputs into the order of the model's, and gives them its shapes where the configuration has others. Throws RequestError for
// inputs and outputs that do not suit the model.
void check_request(const Model& model, InferRequest& request);
// The product of the extents. Throws RequestError for one below 0, and for a product beyond any memory.
std::int64_t checked_elements(std::span<const std::int64_t> shape, const std::string& input);

}  // namespace tenfold::server
