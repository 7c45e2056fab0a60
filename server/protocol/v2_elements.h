// Elements of a tensor in JSON, flat or nested, as memory.
#pragma once

#include <simdjson.h>

#include "core/inference.h"

namespace tenfold::server {

// Sets the input's pieces or strings; the memory is added to `memory`. Throws RequestError, which names the input, for
// a value that is not of
// its type.
void read_elements(const simdjson::dom::element& data, InferInput& input, std::vector<std::shared_ptr<const void>>& memory);

}  // namespace tenfold::server
