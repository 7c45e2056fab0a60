// Composing the bodies of reductions with those of their neighbors.
#include "passes/row_chains.h"

#include "passes/bodies.h"
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/norm_bodies.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Dims;
using ir::Node;
using ir::Prim;

// How many of the last dims the node reduces; 0: it is no reduction over last dims, or its rows are unsuitable.
int reduced_rank(const Node& n, const RowChains& what) {
  const std::optional<ir::Ints> axes = reduced_axes(n);
  const DType type = n.in(0) ? n.in(0)->dtype() : DType::count_;
  const bool half = type == DType::f16 || type == DType::bf16;
  if (!axes || n.attributes.integer("keepdims") == 0 || (type != DType::f32 && !(what.fp16 && half))) return 0;
  const Dims& dims = n.in(0)->dims();
  const std::size_t kept = dims.size() - axes->size();
  if (axes->size() > 1 && dims.size() > 3 && !what.pictures) return 0;
  std::int64_t row = 1;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const Dim extent = dims[kept + i];
    if ((*axes)[i] != static_cast<std::int64_t>(kept + i)) return 0;
    if (!extent.is_constant() && what.unknown && n.def->traits.reduction != ir::ReductionKind::mean) {
      row = std::max<std::int64_t>(row, 2);
      continue;
    }
    if (!extent.is_constant() || extent.constant() > what.longest) return 0;
    row *= extent.constant();
  }
  return row >= 2 && row <= what.longest ? static_cast<int>(axes->size()) : 0;
}

// A reduction as a body over its operand. A second operand, its axes, would be one of the body, too.
std::optional<ir::Body> reduction_body(const Node& n, const RowChains& what) {
  const int rank = n.inputs.size() == 1 ? reduced_rank(n, what) : 0;
  if (rank == 0) return std::nullopt;
  const DType type = n.in(0)->dtype();
  ir::Body body{.inputs = {type}, .code = {}, .outputs = {}, .reduced_rank = rank};
  const auto emit = [&](Prim prim, std::uint16_t a, std::uint16_t b = 0, double imm = 0, DType to = DType::f32) {
    body.code.push_back({.prim = prim, .dtype = to, .a = a, .b = b, .imm = imm});
    return static_cast<std::uint16_t>(body.value_count() - 1);
  };
  const ir::ReductionKind kind = n.def->traits.reduction;
  const std::uint16_t x = type == DType::f32 ? std::uint16_t{0} : emit(Prim::cast, 0);
  switch (kind) {
    case ir::ReductionKind::sum:
    case ir::ReductionKind::mean: emit(Prim::reduce_sum, x); break;
    case ir::ReductionKind::max: emit(Prim::reduce_max, x); break;
    case ir::ReductionKind::min: emit(Prim::reduce_min, x); break;
    case ir::ReductionKind::absolutes: emit(Prim::reduce_sum, emit(Prim::abs, x)); break;
    case ir::ReductionKind::squares:
    case ir::ReductionKind::norm: emit(Prim::reduce_sum, emit(Prim::mul, x, x)); break;
    case ir::ReductionKind::other:
    case ir::ReductionKind::none: return std::nullopt;
  }
  if (kind == ir::ReductionKind::norm) emit(Prim::sqrt, static_cast<std::uint16_t>(body.value_count() - 1));
  if (kind == ir::ReductionKind::mean) {
    const auto sum = static_cast<std::uint16_t>(body.value_count() - 1);
    const Dims& dims = n.in(0)->dims();
    const auto row = static_cast<double>(ir::product(Dims(dims.end() - rank, dims.end())).constant());
    emit(Prim::mul, sum, emit(Prim::constant, 0, 0, 1.0 / row));
  }
  if (type != DType::f32) emit(Prim::cast, static_cast<std::uint16_t>(body.value_count() - 1), 0, 0, type);
  body.outputs = {static_cast<std::uint16_t>(body.value_count() - 1)};
  return body;
}

std::optional<ir::Body> row_body(const Node& n, const RowChains& what) {
  if (n.def->traits.region && n.body->reduced_rank > 0) return n.body->outputs.size() == 1 ? n.body : std::nullopt;
  if (std::optional<ir::Body> body = body_of(n)) return body;
  if (what.norms)
    if (std::optional<ir::Body> body = norm_body(n)) return body;
  return reduction_body(n, what);
}

Dims space_of(const Node& n) {
  Dims space;
  for (const ir::Value* v : n.inputs) space = ir::broadcast(space, v->dims());
  return space;
}
// One value for each row.
Dims narrowed(Dims dims, int reduced) {
  std::fill(dims.end() - reduced, dims.end(), Dim(1));
  return dims;
}
// Along the reduced dims an operand is whole or one value.
bool is_row(const ir::Value& v, const Dims& space, int reduced) {
  const Dims &dims = v.dims(), row(space.end() - reduced, space.end());
  if (dims.size() < row.size()) return ir::product(dims) == Dim(1) || row.size() == 1;
  const Dims own(dims.end() - reduced, dims.end());
  return own == row || ir::product(own) == Dim(1);
}

// May `producer`, whose result v only `n` reads, join it in rows of `reduced` dims? Either both walk the same rows, or one of them
// works on one value for each row of the other.
bool suits(const Node& producer, const ir::Body& first, const ir::Value& v, const Node& n, const ir::Body& own, int reduced) {
  const Dims from = space_of(producer), to = space_of(n), &space = from.size() > to.size() ? from : to;
  if (space.size() < static_cast<std::size_t>(reduced) || from.size() != to.size()) return false;
  const bool behind = first.reduced_rank > 0 && own.reduced_rank == 0 && v.dims() == to && to == narrowed(from, reduced);
  const bool before = first.reduced_rank == 0 && own.reduced_rank > 0 && v.dims() == from && from == narrowed(to, reduced);
  if (from != to && !behind && !before) return false;
  const Dims& rows = before ? to : from;
  // One that reduces has its operands already, and its kernel takes them: a scale for each channel of a group, say.
  const auto in_rows = [&](const Node& node, const ir::Body& body) {
    return body.reduced_rank > 0 || std::all_of(node.inputs.begin(), node.inputs.end(),
                                                [&](const ir::Value* operand) { return is_row(*operand, rows, reduced); });
  };
  return in_rows(producer, first) && in_rows(n, own);
}

Node* absorb_one(ir::Graph& graph, Node& n, const RowChains& what) {
  const std::optional<ir::Body> own = row_body(n, what);
  if (!own) return nullptr;
  for (ir::Value* v : n.inputs) {
    Node* producer = v->producer;
    if (!producer || !read_by_alone(graph, v, n) || producer->inputs.size() + n.inputs.size() > kMaxRegionOperands) continue;
    const std::optional<ir::Body> first = row_body(*producer, what);
    if (!first) continue;
    const int reduced = std::max(first->reduced_rank, own->reduced_rank);
    if (reduced == 0 || (first->reduced_rank && own->reduced_rank && first->reduced_rank != own->reduced_rank)) continue;
    // What is computed from one operand, element by element, may as well be computed where it is read, repeated or not.
    const bool unary = what.repeats && first->reduced_rank == 0 && producer->inputs.size() == 1 && producer->in(0)->dims() == v->dims();
    if (unary || suits(*producer, *first, *v, n, *own, reduced)) return join_as_region(graph, n, v, *first, *own);
  }
  return nullptr;
}

// Longer than what the kernels for softmax and norms hold in registers.
bool has_long_rows(const Node& n) {
  constexpr std::int64_t kHeld = 32768;
  if (n.inputs.empty() || !n.in(0)) return false;
  const Dims& dims = n.in(0)->dims();
  const std::int64_t rank = static_cast<std::int64_t>(dims.size()), axis = n.attributes.integer("axis", -1);
  if (rank == 0 || !n.attributes.has("axis") || axis < -rank || axis >= rank) return false;
  const Dim row = ir::product(std::span(dims).subspan(static_cast<std::size_t>((axis + rank) % rank)));
  return row.is_constant() && row.constant() > kHeld;
}

Node* as_region(ir::Graph& graph, Node& n, const ir::Body& body) {
  Node region;
  region.def = &graph.registry().get("Region"), region.name = n.name, region.inputs = n.inputs, region.body = body;
  Node* added = graph.add(std::move(region), 1, &n);
  graph.replace_uses(n.out(), added->out());
  graph.erase(n);
  return added;
}

}  // namespace

bool fuse_row_chains(ir::Graph& graph, const RowChains& what) {
  bool changed = false;
  for (Node* n : graph.node_list()) {
    if (what.norms && !n->def->traits.region && (n->body || has_long_rows(*n)))
      if (const std::optional<ir::Body> body = norm_body(*n)) n = as_region(graph, *n, *body), changed = true;
    while ((n = absorb_one(graph, *n, what))) changed = true;
  }
  return changed;
}

ir::Value* with_reader(ir::Graph& graph, ir::Value* same, ir::Value*& last) {
  Node* next = only_user(graph, last);
  if (!next || next->inputs.size() != 1 || !body_of(*next) || next->out()->dims() != last->dims()) return nullptr;
  Node copy;
  copy.def = next->def, copy.attributes = next->attributes, copy.numerics = next->numerics;
  copy.sources = next->sources, copy.name = next->name, copy.body = next->body, copy.inputs = {same};
  last = next->out();
  return graph.add(std::move(copy), 1, next)->out();
}

}  // namespace tenfold::passes
