// Ways to make one vector of a text's tokens. One file each; a new one is a new file, and its line in poolings().
#pragma once

#include <vector>

#include "tenfold/build.h"
#include "text/transformers/blocks.h"
#include "text/json.h"

namespace tenfold::encoders {

using transformers::Blocks;

struct Pooling {
  const char* name;  // as sentence-transformers has it
  const char* flag;  // its field in older folders
  // [batch, width] of x[batch, tokens, width], whose first tokens up to `skipped` are a prompt that does not count.
  NetworkTensor (*make)(const Blocks& blocks, NetworkTensor x, std::int64_t skipped);
  PackTokens packing = PackTokens::no;  // the permission that builds need where `blocks` has a mask; no: it cannot have one
};

const std::vector<Pooling>& poolings();  // in the order in which several are put beside each other
// The names of those that a Pooling's config.json asks for: flags of older versions, or "pooling_mode" of newer ones.
// Where flags are all false it is the mean, as in sentence-transformers. Throws invalid_model.
std::vector<std::string> poolings_of(const tokenizing::Json& config);
bool refuses_all_poolings(const tokenizing::Json& config);  // its flags are all false

Pooling pool_cls();
Pooling pool_last_token();
Pooling pool_max();
Pooling pool_mean();
Pooling pool_mean_sqrt_length();
Pooling pool_weighted_mean();

// x without the skipped tokens.
NetworkTensor counted(const Blocks& blocks, NetworkTensor x, std::int64_t skipped);
// How many tokens x has: f32[].
NetworkTensor token_count(const Blocks& blocks, NetworkTensor x);

}  // namespace tenfold::encoders
