// A decoder as it was read from its folder, and the network that computes with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tenfold/decoder.h"
#include "text/decoders/architecture.h"

namespace tenfold::decoders {

struct Model {
  std::string path;                   // the folder, or the ONNX file
  std::string tokenizer;              // the folder with the tokenizer
  std::string type;                   // as configurations name it: "llama"
  nlohmann::json config;              // config.json
  const Architecture* architecture = nullptr;
  Weights weights;
  transformers::NarrowSource narrow;  // of linear layers; null: all are floats
  std::string prefix;                 // of the weights' names
  std::shared_ptr<Network> rewritten;   // of an ONNX file; null: the network is made of weights
  CacheSizes cache;                   // with the capacity that options ask for
  std::int64_t width = 0, vocabulary = 0, speculate = 0;
  std::vector<std::int32_t> end_tokens;
  bool exact_places = false;          // whether so many places of the cache must be read as there are tokens

  tokenizing::Json json() const { return {config, "config.json"}; }
  // Inputs: "ids" and "positions", i32[batch, tokens]; "last", i32[batch], or i32[rows] where steps guess: which of the batch * tokens
  // rows give logits; those of CachedAttention. Outputs: "logits", f32[batch, vocabulary], or of these rows, and each layer's
  // "present.N.key" and "present.N.value".
  Network network() const;
  std::string head() const;           // the tensor that gives logits; throws invalid_model
  Engine built(const BuildConfig& config) const;
  void forget() const;   // what engines have in their own form
};

Model read_model(const std::string& folder, const DecoderOptions& options);   // throws as Decoder::load does
// Of all files that plans are made of; hashes of large ones are those that the cache keeps.
std::string identity_of(const Model& model, const BuildConfig& options, const PlanCache& cache);

}  // namespace tenfold::decoders
