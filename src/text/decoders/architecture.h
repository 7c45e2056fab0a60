// Kinds of decoders: each is one file that makes nodes of ids. A new one is a new file, and its line in architectures().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "text/decoders/cached_attention.h"
#include "text/json.h"
#include "text/transformers/blocks.h"

namespace tenfold::decoders {

using transformers::Blocks;
using transformers::Weights;

// What a kind of decoder is given: config.json, the weights' prefix, ids and positions of i32[batch, tokens], and which tokens' logits are
// asked for, counted over the batch.
struct Tokens {
  const Blocks& blocks;
  const tokenizing::Json& config;
  std::string prefix;   // of the tensors' names: "transformer.", "model.", or empty
  NetworkTensor ids, positions, last;
  CachedAttention& attention;
  NetworkTensor asked(NetworkTensor x, std::int64_t width) const;   // the rows of those tokens: the last norm is of them alone
  // Sees what goes into layer i, and what it returns goes in; empty where nobody looks at single layers.
  std::function<NetworkTensor(std::int64_t layer, NetworkTensor x)> look = {};
  NetworkTensor at_layer(std::int64_t layer, NetworkTensor x) const { return look ? look(layer, x) : x; }
  NetworkTensor embedded(const std::string& table, std::int64_t rows, std::int64_t width) const;   // rows of a table by ids
};

// Channels that may be larger in one place and as much smaller in another, without a change of what the layer computes.
struct SharedChannels {
  // A tensor that gives the channels: all of it, or `count` of its outputs from `first` on.
  struct Source {
    std::string tensor;
    std::int64_t first = 0, count = 0;
  };
  std::vector<Source> sources;
  std::vector<std::string> products;   // whose inputs they are
  std::int64_t size = 1, repeats = 1;  // each run of `size` channels goes to so many runs of inputs, one behind another
};

struct Architecture {
  std::vector<std::string> model_types;               // as config.json names it
  std::string prefix;                                 // of the weights' names, where they have one
  std::string table;                                  // the tensor of token embeddings, without the prefix
  std::string places;                                 // the field of config.json that says how many tokens a sequence may have
  CacheSizes (*cache)(const tokenizing::Json& config) = nullptr;   // its capacity is the caller's
  NetworkTensor (*hidden)(const Tokens& tokens) = nullptr;         // [tokens asked for, width], behind the last norm; calls at_layer()
  // Of a layer, in the order of its computation; null: not known. Names are without the prefix.
  std::vector<SharedChannels> (*shared_channels)(const tokenizing::Json& config, std::int64_t layer) = nullptr;
};

const std::vector<Architecture>& architectures();
const Architecture* find_architecture(const std::string& model_type);
std::string known_architectures();   // "gpt2, llama, ..."

Architecture gpt2();
Architecture llama();

}  // namespace tenfold::decoders
