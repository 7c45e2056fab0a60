// fuse_reductions: reductions over the last dims join the pointwise nodes around them in one Region, which reads its rows while they are
// in cache: L2 normalisation, centring, pieces of a softmax or a norm that no rule knows. For CPUs.
//
// before: (x f32[4,8])
//   n = ReduceL2(x) axes=[-1]
//   y = Div(x, n)
// after: (x f32[4,8])
//   y = Region(x) body={(f32) %1=mul.f32(%0,%0) %2=reduce_sum.f32(%1) %3=sqrt.f32(%2) %4=div.f32(%0,%3) over=1 -> %4}
//
// before: (x f32[2,3,8], z f32[2,3,8])
//   p = Mul(x, z)
//   y = ReduceMean(p) axes=[2]
// after: (x f32[2,3,8], z f32[2,3,8])
//   y = Region(x, z) body={(f32,f32) %2=mul.f32(%0,%1) %3=reduce_sum.f32(%2) %4=constant.f32(0.125) %5=mul.f32(%3,%4) over=1 -> %5}
//
// kept: (x f32[2,8,16])
//   m = ReduceMean(x) axes=[1]
//   y = Sub(x, m)
#include "passes/bodies.h"
#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Dims;
using ir::Node;
using ir::Prim;

constexpr std::int64_t kLongestRow = 1024;   // elements: longer ones leave the executor's blocks, and are faster by kernels of their own

// How many of the last dims the node reduces; 0: it is no reduction over last dims, or its rows are unsuitable.
int reduced_rank(const Node& n) {
  const std::optional<ir::Ints> axes = reduced_axes(n);
  if (!axes || n.attributes.integer("keepdims") == 0 || n.in(0)->dtype() != DType::f32) return 0;
  const Dims& dims = n.in(0)->dims();
  const std::size_t kept = dims.size() - axes->size();
  if (axes->size() > 1 && dims.size() > 3) return 0;   // pictures: they may lie channels-last
  std::int64_t row = 1;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const Dim extent = dims[kept + i];
    if ((*axes)[i] != static_cast<std::int64_t>(kept + i) || !extent.is_constant() || extent.constant() > kLongestRow) return 0;
    row *= extent.constant();
  }
  return row >= 2 && row <= kLongestRow ? static_cast<int>(axes->size()) : 0;
}

// A reduction as a body over its operand.
std::optional<ir::Body> reduction_body(const Node& n) {
  const int rank = reduced_rank(n);
  if (rank == 0) return std::nullopt;
  ir::Body body{.inputs = {DType::f32}, .reduced_rank = rank};
  const auto emit = [&](Prim prim, std::uint16_t a, std::uint16_t b = 0, double imm = 0) {
    body.code.push_back({.prim = prim, .dtype = DType::f32, .a = a, .b = b, .imm = imm});
    return static_cast<std::uint16_t>(body.value_count() - 1);
  };
  const std::string& op = n.op();
  if (op == "ReduceSum" || op == "ReduceMean") emit(Prim::reduce_sum, 0);
  else if (op == "ReduceMax") emit(Prim::reduce_max, 0);
  else if (op == "ReduceMin") emit(Prim::reduce_min, 0);
  else if (op == "ReduceL1") emit(Prim::reduce_sum, emit(Prim::abs, 0));
  else if (op == "ReduceL2" || op == "ReduceSumSquare") emit(Prim::reduce_sum, emit(Prim::mul, 0, 0));
  else return std::nullopt;
  if (op == "ReduceL2") emit(Prim::sqrt, static_cast<std::uint16_t>(body.value_count() - 1));
  if (op == "ReduceMean") {
    const auto sum = static_cast<std::uint16_t>(body.value_count() - 1);
    const Dims& dims = n.in(0)->dims();
    const auto row = static_cast<double>(ir::product(Dims(dims.end() - rank, dims.end())).constant());
    emit(Prim::mul, sum, emit(Prim::constant, 0, 0, 1.0 / row));
  }
  body.outputs = {static_cast<std::uint16_t>(body.value_count() - 1)};
  return body;
}

std::optional<ir::Body> row_body(const Node& n) {
  if (n.op() == "Region" && n.body->reduced_rank > 0) return n.body->outputs.size() == 1 ? n.body : std::nullopt;
  if (std::optional<ir::Body> body = body_of(n)) return body;
  return reduction_body(n);
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
  const auto in_rows = [&](const ir::Value* operand) { return is_row(*operand, rows, reduced); };
  return std::all_of(producer.inputs.begin(), producer.inputs.end(), in_rows) && std::all_of(n.inputs.begin(), n.inputs.end(), in_rows);
}

Node* absorb_one(ir::Graph& graph, Node& n) {
  const std::optional<ir::Body> own = row_body(n);
  if (!own) return nullptr;
  for (ir::Value* v : n.inputs) {
    Node* producer = v->producer;
    if (!producer || !read_by_alone(graph, v, n) || producer->inputs.size() + n.inputs.size() > kMostRegionOperands) continue;
    const std::optional<ir::Body> first = row_body(*producer);
    if (!first) continue;
    const int reduced = std::max(first->reduced_rank, own->reduced_rank);
    if (reduced == 0 || (first->reduced_rank && own->reduced_rank && first->reduced_rank != own->reduced_rank)) continue;
    if (suits(*producer, *first, *v, n, *own, reduced)) return join_as_region(graph, n, v, *first, *own);
  }
  return nullptr;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (Node* n : graph.node_list())
    while ((n = absorb_one(graph, *n))) changed = true;
  return changed;
}

}  // namespace

Pass pass_fuse_reductions() { return {.name = "fuse_reductions", .run = run}; }

}  // namespace tenfold::passes
