// A decoder as it was read from its folder, and the network that computes with it.
#pragma once

#include <string>
#include <vector>

#include "tenfold/decoder.h"
#include "text/decoders/architecture.h"

namespace tenfold::decoders {

struct Model {
  std::string path;
  nlohmann::json config;              // config.json
  const Architecture* architecture = nullptr;
  Weights weights;
  transformers::NarrowSource narrow;  // of linear layers; null: all are floats
  std::string prefix;                 // of the weights' names
  CacheSizes cache;                   // with the capacity that options ask for
  std::int64_t width = 0, vocabulary = 0;
  std::vector<std::int32_t> end_tokens;
  std::string identity;               // of the files that plans are made of, once it is needed

  tokenizing::Json json() const { return {config, "config.json"}; }
  // Inputs: "ids" and "positions", i32[batch, tokens]; "last", i32[batch]: which of the batch * tokens rows give logits; those of
  // CachedAttention. Outputs: "logits", f32[batch, vocabulary], and each layer's "present.N.key" and "present.N.value".
  Network network() const;
};

Model read_model(const std::string& folder, const DecoderOptions& options);   // throws as Decoder::load does
std::string identity_of(const Model& model);

}  // namespace tenfold::decoders
