// From where packed tokens are wanted backwards to the embeddings: what each node becomes on packed tokens.
#include "passes/packing.h"

#include <algorithm>

#include "passes/match.h"
#include "passes/movement.h"

namespace tenfold::passes {

using ir::Dim;
using ir::Dims;
using ir::Node;
using ir::Value;

namespace {

const Dim kOne(1);

Dim extent(const Value* v, int axis) { return axis < 0 ? kOne : v->dims()[static_cast<std::size_t>(axis)]; }

// `dims` with the batch's extent 1 and so many tokens.
Dims packed_dims(Dims dims, TokenAxes axes, Dim tokens) {
  dims[static_cast<std::size_t>(axes.batch)] = kOne;
  dims[static_cast<std::size_t>(axes.token)] = tokens;
  return dims;
}

bool is_pointwise(const Node& n) { return n.def->scalar && n.def->pure; }

std::int64_t axis_of(const Node& n, std::int64_t otherwise, int rank) {
  const std::int64_t axis = n.attributes.integer("axis", otherwise);
  return axis < 0 ? axis + rank : axis;
}

// Does it work along its own axis, or along those behind it, for each token by itself, whatever its further operands are?
bool stays_in_token(const Node& n, TokenAxes axes) {
  const int rank = n.in(0)->rank();
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), n.op()) != names.end();
  };
  if (is({"LayerNormalization", "RMSNormalization"})) return n.outputs.size() == 1 && axis_of(n, -1, rank) > axes.token;
  if (is({"Softmax", "LogSoftmax"})) return axis_of(n, -1, rank) > axes.token;
  if (n.op() == "Split") {
    const std::int64_t axis = axis_of(n, 0, rank);
    return axis != axes.token && axis != axes.batch;
  }
  if (is({"QuantizeLinear", "DequantizeLinear"})) {
    const std::int64_t axis = axis_of(n, 1, rank);
    return n.in(1)->rank() == 0 || (n.in(1)->rank() == 1 && axis != axes.token && axis != axes.batch);
  }
  return n.op() == "MatMul" && n.in(1)->rank() == 2 && axes.token < rank - 1;
}

}  // namespace

Packer::Packer(ir::Graph& graph, TokenMask& mask, std::set<const Node*> attentions, bool with_zeros)
    : graph_(graph), mask_(mask), attentions_(std::move(attentions)) {
  Value* root = const_cast<Value*>(mask.root());
  positions_ = graph.add("TokenPositions", {root}, {{"strict", std::int64_t{mask.only_0_and_1()}}}, with_zeros ? 4 : 3, "packed");
}

bool Packer::depends(const Value* v) {
  if (!v || !v->producer) return false;
  if (const auto it = depends_.find(v); it != depends_.end()) return it->second;
  bool found = attentions_.count(v->producer) > 0;
  for (const Value* in : v->producer->inputs) found = found || depends(in);
  return depends_[v] = found;
}

Value* Packer::pack(Value* v, TokenAxes axes) {
  if (const auto it = packed_.find(v); it != packed_.end()) return it->second.first == axes ? it->second.second : nullptr;
  Value* made = pack_new(v, axes);
  packed_[v] = {axes, made};
  return made;
}

// What comes before all attention and is no arithmetic is computed as it was, and read at the positions kept.
Value* Packer::pack_new(Value* v, TokenAxes axes) {
  if (axes.batch < 0 || axes.batch >= axes.token || v->type.kind != ir::ValueType::Kind::tensor) return nullptr;
  Value* made = v->producer && !v->producer->body && v->producer->graphs.empty() ? pack_node(v, axes) : nullptr;
  if (!made && !depends(v)) made = pack_leaf(v, axes);
  if (!made || made->dtype() != v->dtype()) return nullptr;
  return made->dims() == packed_dims(v->dims(), axes, positions_->out(1)->dims()[1]) ? made : nullptr;
}

Value* Packer::pack_node(Value* v, TokenAxes axes) {
  const Node& n = *v->producer;
  if (attentions_.count(&n)) return pack_attention(n, axes);
  if (is_pointwise(n)) return pack_same_op(v, axes, n.inputs.size());
  if (stays_in_token(n, axes)) return pack_same_op(v, axes, 1);
  if (is_reshape(n)) return pack_reshape(n, axes);
  if (n.op() == "Transpose") {
    const ir::Ints perm = perm_of(n);
    const auto at = [&](int axis) { return static_cast<int>(perm[static_cast<std::size_t>(axis)]); };
    Value* x = pack(n.in(0), {at(axes.batch), at(axes.token)});
    return x ? graph_.add_like(n, {x})->out() : nullptr;
  }
  // Rows of a table, chosen by a number for each token.
  if (n.op() == "Gather" && axis_of(n, 0, n.in(0)->rank()) == 0 && axes.token < n.in(1)->rank() && !depends(n.in(0))) {
    Value* index = pack(n.in(1), axes);
    return index ? graph_.add_like(n, {n.in(0), index})->out() : nullptr;
  }
  return nullptr;
}

Value* Packer::pack_attention(const Node& n, TokenAxes axes) {
  if (!(axes == TokenAxes{0, 2})) return nullptr;
  std::vector<Value*> operands;
  for (int i = 0; i < 3; ++i) operands.push_back(pack(n.in(i), axes));
  if (std::count(operands.begin(), operands.end(), nullptr)) return nullptr;
  operands.push_back(nullptr), operands.push_back(offsets());
  ir::Attributes attributes = n.attributes;
  attributes.erase("nan_rows");   // every row sees its own key
  const std::int64_t longest = mask_.root()->dims()[1].bounds(graph_.box()).upper;
  if (longest < ir::kUnbounded) attributes.set("longest", longest);
  ir::Node* packed = graph_.add("FusedAttention", operands, attributes);
  packed->numerics = n.numerics, packed->sources = n.sources;
  return packed->out();
}

// Dims up to the token's stay what they are.
Value* Packer::pack_reshape(const Node& n, TokenAxes axes) {
  const Dims &from = n.in(0)->dims(), &to = n.out()->dims();
  const auto lead = static_cast<std::ptrdiff_t>(axes.token) + 1;
  if (static_cast<std::ptrdiff_t>(from.size()) < lead || !std::equal(from.begin(), from.begin() + lead, to.begin())) return nullptr;
  if (!std::all_of(to.begin() + lead, to.end(), [](Dim d) { return d.is_constant(); })) return nullptr;
  Value* x = pack(n.in(0), axes);
  Value* packed = x ? reshape_to(graph_, x, packed_dims(to, axes, positions_->out(1)->dims()[1]), nullptr) : nullptr;
  if (packed && packed != x && packed->producer->sources.empty()) packed->producer->sources = n.sources;
  return packed;
}

// The same node on its first operands packed; the others are the same for all tokens.
Value* Packer::pack_same_op(Value* v, TokenAxes axes, std::size_t operands) {
  const Node& n = *v->producer;
  std::vector<Value*> inputs = n.inputs;
  for (std::size_t i = 0; i < operands; ++i)
    if (inputs[i] && !(inputs[i] = pack_broadcast(inputs[i], axes, v->rank()))) return nullptr;
  for (std::size_t i = operands; i < inputs.size(); ++i)
    if (depends(inputs[i])) return nullptr;
  Node* made = graph_.add_like(n, inputs);
  for (std::size_t o = 0; o < n.outputs.size(); ++o)
    if (n.outputs[o] != v) packed_[n.outputs[o]] = {axes, made->outputs[o]};
  return made->outputs[static_cast<std::size_t>(v->producer_index)];
}

// An operand whose dims are aligned to the right of `rank` dims with these token axes.
Value* Packer::pack_broadcast(Value* v, TokenAxes axes, int rank) {
  const int shift = rank - v->rank(), batch = axes.batch - shift, token = axes.token - shift;
  if (token < 0 || extent(v, token) == kOne) return batch < 0 || extent(v, batch) == kOne ? v : nullptr;
  if (batch >= 0) return pack(v, {batch, token});
  if (depends(v) || token != 0) return nullptr;   // [sequence, ...]: a row for each column
  return graph_.make("Gather", {v, positions_->out(2)});
}

Value* Packer::pack_leaf(Value* v, TokenAxes axes) {
  const Dims &dims = v->dims(), &mask = mask_.root()->dims();
  if (axes.batch != 0 || axes.token != 1 || !(dims[1] == mask[1])) return nullptr;
  const Node* expand = expand_of(v);   // the same for all rows of the batch
  if (expand && expand->in(0)->rank() == v->rank() && expand->in(0)->dims()[0] == kOne && expand->in(0)->dims()[1] == dims[1] &&
      std::equal(dims.begin() + 1, dims.end(), expand->in(0)->dims().begin() + 1))
    return pack(expand->in(0), axes);
  Dims rows(dims.begin() + 1, dims.end());
  const bool one_row = dims[0] == kOne && !(mask[0] == kOne);
  if (!one_row && !(dims[0] == mask[0])) return nullptr;
  rows[0] = dims[0] * dims[1];
  Value* flat = reshape_to(graph_, v, rows, nullptr);
  return flat ? graph_.make("Gather", {flat, positions_->out(one_row ? 2 : 1)}) : nullptr;
}

Value* Packer::unpack(Value* packed) {
  const Dims& mask = mask_.root()->dims();
  Dims rows(packed->dims().begin() + 1, packed->dims().end());
  Value* flat = reshape_to(graph_, packed, rows, nullptr);
  if (!flat || !is_float(packed->dtype())) return nullptr;
  Value* padded = graph_.make("Gather", {flat, positions_->out(3)});
  Dims ones(rows.size() + 1, kOne);
  ones[0] = mask[0], ones[1] = mask[1];
  const auto cast = [&](Value* v, DType type) {
    return v->dtype() == type ? v : graph_.make("Cast", {v}, {{"to", std::string(name(type))}});
  };
  Value* keep = reshape_to(graph_, cast(const_cast<Value*>(mask_.root()), DType::boolean), ones, nullptr);
  Value* zero = cast(number(graph_, 0), packed->dtype());
  return keep ? graph_.make("Where", {keep, padded, zero}) : nullptr;
}

}  // namespace tenfold::passes
