// Kinds of decoders: each is one file that makes nodes of ids. A new one is a new file, and its line in architectures().
#pragma once

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
  NetworkTensor embedded(const std::string& table, std::int64_t rows, std::int64_t width) const;   // rows of a table by ids
};

struct Architecture {
  std::vector<std::string> model_types;               // as config.json names it
  std::string prefix;                                 // of the weights' names, where they have one
  std::string table;                                  // the tensor of token embeddings, without the prefix
  std::string places;                                 // the field of config.json that says how many tokens a sequence may have
  CacheSizes (*cache)(const tokenizing::Json& config) = nullptr;   // its capacity is the caller's
  NetworkTensor (*hidden)(const Tokens& tokens) = nullptr;         // [tokens asked for, width], behind the last norm
};

const std::vector<Architecture>& architectures();
const Architecture* find_architecture(const std::string& model_type);
std::string known_architectures();   // "gpt2, llama, ..."

Architecture gpt2();
Architecture llama();

}  // namespace tenfold::decoders
