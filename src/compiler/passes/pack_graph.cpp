// Which attention may be packed, by which mask, and where packed tokens end: in means under the mask, or in rows with zeros between them.
#include <algorithm>

#include "passes/match.h"
#include "passes/packing.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Node;
using ir::Value;

bool could_be_mask(const Value* v) {   // of a type that TokenPositions reads
  constexpr DType kTypes[] = {DType::boolean, DType::i64, DType::i32, DType::i8, DType::u8};
  return v->type.kind == ir::ValueType::Kind::tensor && v->type.ranked && v->rank() == 2 && !(v->dims()[1] == Dim(1)) &&
         std::find(std::begin(kTypes), std::end(kTypes), v->dtype()) != std::end(kTypes);
}

// Self-attention: as many queries as keys, both of the sequence.
std::set<const Node*> attentions_under(const ir::Graph& graph, TokenMask& mask) {
  std::set<const Node*> found;
  const ir::Dims& root = mask.root()->dims();
  for (const auto& n : graph.nodes()) {
    if (n->op() != "FusedAttention" || n->body || !n->in(3) || n->in(4)) continue;
    const ir::Dims &q = n->in(0)->dims(), &k = n->in(1)->dims();
    if (q[0] == root[0] && q[2] == root[1] && k[2] == root[1] && mask.hides_keys(n->in(3))) found.insert(n.get());
  }
  return found;
}

bool pack_means(ir::Graph& graph, Packer& packer, TokenMask& mask) {
  bool any = false;
  for (Node* n : graph.node_list()) {
    if (n->op() != "MaskedMean" || n->in(2) || !packer.depends(n->in(0)) || !mask.zero_where_hidden(n->in(1))) continue;
    Value *x = packer.pack(n->in(0), {0, 1}), *weights = packer.pack(n->in(1), {0, 1});
    if (!x || !weights) return false;
    graph.replace_uses(n->out(), graph.make("MaskedMean", {x, weights, packer.offsets()}, n->attributes));
    any = true;
  }
  return any;
}

// Takes rows of certain columns, as models do that answer with the first token.
bool takes_columns(const Node* user, const Value* v) {
  if (user->in(0) != v) return false;
  if (user->op() == "Gather") return user->attributes.integer("axis", 0) == 1;
  if (user->op() != "Slice" || !user->in(3) || !user->in(3)->is_constant()) return false;
  const Tensor* axes = look(user->in(3));
  return axes && axes->size() == 1 && axes->as_double(0) == 1;
}
// Results that have a row for each token, and what takes some of them. Whoever else reads all rows keeps the padded ones.
bool ends_here(const ir::Graph& graph, const Value* v) {
  return graph.is_output(v) || std::any_of(v->users.begin(), v->users.end(), [&](const Node* user) { return takes_columns(user, v); });
}
void end_in(ir::Graph& graph, Value* v, Value* rows) {
  for (Node* user : std::vector<Node*>(v->users.begin(), v->users.end()))
    if (takes_columns(user, v)) graph.set_input(*user, 0, rows);
  if (!graph.is_output(v)) return;
  std::swap(v->name, rows->name);   // the result's name
  graph.note_replaced(*v, *rows);
  std::replace(graph.outputs.begin(), graph.outputs.end(), v, rows);
}

bool unpack_rows(ir::Graph& graph, Packer& packer, const TokenMask& mask) {
  bool any = false;
  std::vector<Value*> ends;
  for (const Node* n : graph.node_list())
    for (Value* v : n->outputs)
      if (v->type.kind == ir::ValueType::Kind::tensor && v->rank() >= 3 && v->dims()[0] == mask.root()->dims()[0] &&
          v->dims()[1] == mask.root()->dims()[1] && packer.depends(v) && ends_here(graph, v))
        ends.push_back(v);
  for (Value* v : ends) {
    Value* x = packer.pack(v, {0, 1});
    Value* rows = x ? packer.unpack(x) : nullptr;
    if (!rows) return false;
    end_in(graph, v, rows);
    any = true;
  }
  return any;
}

bool try_pack(ir::Graph& graph, const Value* root, bool with_zeros) {
  TokenMask mask(root);
  const std::set<const Node*> attentions = attentions_under(graph, mask);
  if (attentions.empty()) return false;
  Packer packer(graph, mask, attentions, with_zeros);
  const bool means = pack_means(graph, packer, mask), rows = with_zeros && unpack_rows(graph, packer, mask);
  if (!means && !rows) return false;
  graph.sweep();
  return std::none_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& n) { return attentions.count(n.get()) > 0; });
}

}  // namespace

bool pack_graph(ir::Graph& graph, bool with_zeros) {
  bool packed = false;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {  // each mask has encoders of its own
    if (!could_be_mask(graph.inputs[i])) continue;
    ir::Graph trial = graph.clone();
    if (!try_pack(trial, trial.inputs[i], with_zeros)) continue;
    graph = std::move(trial);
    packed = true;
  }
  return packed;
}

std::map<std::string, const Value*> packed_token_symbols(const ir::Graph& graph) {
  std::map<std::string, const Value*> found;
  for (const auto& n : graph.nodes())
    if (n->op() == "TokenPositions")
      for (const std::string& symbol : n->out(1)->dims()[1].symbols()) found[symbol] = n->in(0);
  for (auto it = found.begin(); it != found.end();) {  // where nothing remains to be counted, the number is the batch's
    const auto is_count = [&](const ir::Symbol& s) { return s.name == it->first && s.origin == ir::Origin::host_value; };
    it = std::any_of(graph.symbols.begin(), graph.symbols.end(), is_count) ? std::next(it) : found.erase(it);
  }
  return found;
}

}  // namespace tenfold::passes
