// Positions by rotation: tables of cosines and sines, as config.json asks for them.
#pragma once

#include "text/json.h"
#include "text/transformers/blocks.h"

namespace tenfold::decoders {

// Turns the first `turned` elements of each head by angles of the token's position: the pairs are elements i and i + turned / 2.
class Rotary {
 public:
  // Of rope_parameters, or of rope_theta and rope_scaling; types default, linear and llama3. Throws unsupported for others.
  Rotary(const transformers::Blocks& blocks, const tokenizing::Json& config, std::int64_t places, std::int64_t turned);
  NetworkTensor operator()(NetworkTensor heads, NetworkTensor positions) const;   // of [batch, heads, tokens, size]

 private:
  const transformers::Blocks& blocks_;
  std::int64_t turned_;
  NetworkTensor cosines_, sines_;
};

}  // namespace tenfold::decoders
