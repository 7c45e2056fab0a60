// What rules that look for attention share.
#pragma once

#include "ir/graph.h"

namespace tenfold::passes {

// Puts a FusedAttention in the place of a softmax between two products that ends in `product`, and gives it; null: there is none.
ir::Node* fuse_attention_at(ir::Graph& graph, ir::Node& product);

}  // namespace tenfold::passes
