// Kinds of encoders: each is one file that makes nodes of ids. A new one is a new file, and its line in architectures().
#pragma once

#include <string>
#include <vector>

#include "text/transformers/blocks.h"
#include "text/json.h"

namespace tenfold::encoders {

using transformers::Blocks;
using transformers::Weights;

// What a kind of encoder is given: config.json, the weights' prefix, ids and types of i32[batch, tokens].
struct Texts {
  const Blocks& blocks;
  const tokenizing::Json& config;
  std::string prefix;  // of the tensors' names: "bert." in front of a head, or empty
  std::string table;   // the tensor of token embeddings
  NetworkTensor ids;
  NetworkTensor types;  // undefined: all are 0
};

struct Architecture {
  std::vector<std::string> model_types;                   // as config.json names it
  std::string prefix;                                     // of the weights in a model with a head
  std::vector<std::string> tables;                        // the tensor of token embeddings, without the prefix: one of these
  bool has_types = false;                                 // the second text of a pair is told by its types
  bool masks = false;                                     // its layers know a mask of tokens (Blocks::mask)
  int reserved_positions = 0;                             // rows of the positions' table that no token has
  NetworkTensor (*tokens)(const Texts& texts) = nullptr;  // [batch, tokens, width]
  // Scores in front of sigmoid or softmax, [batch, labels], of the first token's vector [batch, width]; null: no head is known.
  NetworkTensor (*head)(const Texts& texts, NetworkTensor first) = nullptr;
  bool (*head_takes_mean)(const tokenizing::Json& config) = nullptr;  // of all tokens, in place of the first; null: never
};

const std::vector<Architecture>& architectures();
const Architecture* find_architecture(const std::string& model_type);
std::string known_architectures();  // "bert, distilbert, ..."

Architecture albert();
Architecture bert();
Architecture distilbert();
Architecture electra();
Architecture modernbert();
Architecture mpnet();
Architecture roberta();
Architecture t5();

// A layer of BERT's family behind its attention: sums, norms and the two products between.
struct LayerNames {
  std::string attention_out, attention_norm, wide, narrow, norm;
};
NetworkTensor finish_layer(const Texts& texts, const LayerNames& names, NetworkTensor attended, NetworkTensor x);
// Dense, tanh, product: a head of which two tensors have these names.
NetworkTensor dense_head(const Texts& texts, NetworkTensor first, const std::string& dense, const std::string& out, const char* activation);
std::int64_t field(const Texts& texts, const char* key);  // a positive number of config.json
float epsilon(const Texts& texts);
// BERT's layers, which RoBERTa has, too: "encoder.layer.N" of [batch, tokens, width].
NetworkTensor bert_layers(const Texts& texts, NetworkTensor x);
// BERT's sum of embeddings of this width, where positions count from `first`.
NetworkTensor bert_embeddings(const Texts& texts, std::int64_t first, std::int64_t width);
// How far the token of a column stands behind that of a row: i32[tokens, tokens].
NetworkTensor distances(const Texts& texts);
// T5's bias of distances, [1, heads, tokens, tokens], of a table [buckets, heads]; distances from `farthest` on are one.
NetworkTensor distance_bias(const Texts& texts, const std::string& table, std::int64_t heads, std::int64_t buckets, std::int64_t farthest);

}  // namespace tenfold::encoders
