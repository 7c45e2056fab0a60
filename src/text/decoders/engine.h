// The engine of a decoder: profiles of prompts and steps, and the plan cache.
#pragma once

#include <string_view>

#include "text/decoders/model.h"

namespace tenfold::decoders {

// Built, or taken from the cache. Profile 0 is a step (one token of each sequence), profile 1 a piece of a prompt.
Engine make_engine(const Model& model, const DecoderOptions& options);
// SessionModel's, for caches of this size on a device: 16 graphs at most, and none reads many places more than there are.
std::int64_t places_step(const CacheSizes& cache, std::string_view device);

}  // namespace tenfold::decoders
