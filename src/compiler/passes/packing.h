// Packing: the part of a text encoder that works on tokens one by one, and its attention, over the tokens that a mask keeps.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "ir/op_def.h"
#include "passes/token_mask.h"

namespace tenfold::passes {

// Rewrites `graph` if that leaves no attention over padded rows; else it stays as it is. `with_zeros`: results with a row for each token
// may get zeros in the rows of masked tokens.
bool pack_graph(ir::Graph& graph, bool with_zeros);
// The symbols that count packed tokens, each with the mask that it counts.
std::map<std::string, const ir::Value*> packed_token_symbols(const ir::Graph& graph);

// Which axes of a value number the rows of the batch and the tokens. Packed, the value has extent 1 in the first and all kept tokens in
// the second.
struct TokenAxes {
  int batch = 0, token = 1;
  bool operator==(const TokenAxes&) const = default;
};

class Packer {
 public:
  // Of attention nodes whose masks hide keys by `mask`.
  Packer(ir::Graph& graph, TokenMask& mask, std::set<const ir::Node*> attentions, bool with_zeros);
  bool depends(const ir::Value* v);                     // on one of the attention nodes
  ir::Value* pack(ir::Value* v, TokenAxes axes);        // null: it cannot be
  ir::Value* unpack(ir::Value* packed);                 // [1, tokens, ...] to [batch, sequence, ...], zeros where there is none
  ir::Value* offsets() const { return positions_->out(0); }

 private:
  ir::Value* pack_new(ir::Value* v, TokenAxes axes);
  ir::Value* pack_node(ir::Value* v, TokenAxes axes);
  ir::Value* pack_attention(const ir::Node& n, TokenAxes axes);
  ir::Value* pack_reshape(const ir::Node& n, TokenAxes axes);
  ir::Value* pack_same_op(ir::Value* v, TokenAxes axes, std::size_t operands);
  ir::Value* pack_leaf(ir::Value* v, TokenAxes axes);
  ir::Value* pack_broadcast(ir::Value* v, TokenAxes axes, int rank);

  ir::Graph& graph_;
  TokenMask& mask_;
  std::set<const ir::Node*> attentions_;
  ir::Node* positions_;
  std::map<const ir::Value*, std::pair<TokenAxes, ir::Value*>> packed_;
  std::map<const ir::Value*, bool> depends_;
};

}  // namespace tenfold::passes
