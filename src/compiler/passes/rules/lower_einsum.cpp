// lower_einsum: an Einsum of two operands that is a matrix product becomes transposes, reshapes and a MatMul; one that sums nothing a Mul.
//
// before: (q f32[2,5,3,4], k f32[2,6,3,4])
//   y = Einsum(q, k) equation="bihd,bjhd->bhij"
// after: (q f32[2,5,3,4], k f32[2,6,3,4])
//   a = Transpose(q) perm=[0,2,1,3]
//   b = Transpose(k) perm=[0,2,3,1]
//   y = MatMul(a, b)
//
// before: (x f32[2,3,4], w f32[4,5,6]!)
//   y = Einsum(x, w) equation="bsd,dhe->bshe"
// after: (x f32[2,3,4], w f32[4,5,6]!)
//   m = i64[2]{6,4}
//   n = i64[2]{4,30}
//   to = i64[4]{2,3,5,6}
//   a = Reshape(x, m) allowzero=1
//   b = Reshape(w, n) allowzero=1
//   p = MatMul(a, b)
//   y = Reshape(p, to) allowzero=1
//
// before: (x f32[2,3,4], w f32[2,4])
//   y = Einsum(x, w) equation="bsd,bd->bds"
// after: (x f32[2,3,4], w f32[2,4])
//   to = i64[3]{2,4,1}
//   a = Transpose(x) perm=[0,2,1]
//   b = Reshape(w, to) allowzero=1
//   y = Mul(a, b)
//
// kept: (x f32[2,3,4], w f32[2,4,5])
//   y = Einsum(x, w) equation="bsd,bde->bs"
#include <algorithm>

#include "passes/match.h"
#include "passes/movement.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::Dim;
using ir::Dims;
using ir::Node;
using ir::Value;

bool has(const std::string& labels, char c) { return labels.find(c) != std::string::npos; }
bool plain(const std::string& labels) {   // letters, each once
  for (char c : labels)
    if (!std::isalpha(static_cast<unsigned char>(c)) || std::count(labels.begin(), labels.end(), c) != 1) return false;
  return true;
}

// One operand's labels in the order batch, rows, columns of its matrix, and the operand in that order with one dim for each group.
struct Side {
  Value* value;
  std::string labels;
  Dims dims_of(const std::string& some) const {
    Dims dims;
    for (char c : some) dims.push_back(value->dims()[labels.find(c)]);
    return dims;
  }
};

Value* as_matrices(ir::Graph& graph, const Side& s, const std::string& batch, const std::string& rows, const std::string& columns,
                   Node* before) {
  ir::Ints perm;
  for (char c : batch + rows + columns) perm.push_back(static_cast<std::int64_t>(s.labels.find(c)));
  Dims dims = s.dims_of(batch);
  dims.push_back(ir::product(s.dims_of(rows)));
  dims.push_back(ir::product(s.dims_of(columns)));
  return reshape_to(graph, transpose_by(graph, s.value, perm, before), dims, before);
}

// An operand in the order of the result, with an extent of 1 for each label that it lacks; null where its shape is not known well enough.
Value* spread(ir::Graph& graph, const Side& s, const std::string& result, Node* before) {
  ir::Ints perm;
  Dims dims;
  for (char c : result) {
    if (has(s.labels, c)) perm.push_back(static_cast<std::int64_t>(s.labels.find(c)));
    dims.push_back(has(s.labels, c) ? s.dims_of(std::string(1, c))[0] : Dim(1));
  }
  return reshape_to(graph, transpose_by(graph, s.value, perm, before), dims, before);
}

bool multiply(ir::Graph& graph, Node& n, const Side& a, const Side& b, const std::string& result) {
  std::string shared;
  for (char c : a.labels)
    if (has(b.labels, c)) shared += c;
  if (a.dims_of(shared) != b.dims_of(shared)) return false;
  Value* left = spread(graph, a, result, &n);
  Value* right = spread(graph, b, result, &n);
  if (!left || !right) return false;
  Value* product = graph.make("Mul", {left, right}, {}, &n);
  product->producer->numerics = n.numerics;
  graph.replace_uses(n.out(), product);
  return true;
}

bool try_lower(ir::Graph& graph, Node& n) {
  if (n.op() != "Einsum" || n.body || n.inputs.size() != 2 || n.out()->dtype() != DType::f32) return false;
  std::string equation = n.attributes.string("equation");
  std::erase(equation, ' ');
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma) return false;
  const Side a{n.in(0), equation.substr(0, comma)}, b{n.in(1), equation.substr(comma + 1, arrow - comma - 1)};
  const std::string result = equation.substr(arrow + 2);
  if (!plain(a.labels) || !plain(b.labels) || !plain(result)) return false;
  std::string batch, rows, columns, summed;
  for (char c : result) (has(a.labels, c) && has(b.labels, c) ? batch : has(a.labels, c) ? rows : columns) += c;
  for (char c : a.labels)
    if (!has(result, c)) summed += c;
  for (char c : summed)
    if (!has(b.labels, c)) return false;   // a sum over one operand alone
  for (char c : b.labels)
    if (!has(result, c) && !has(summed, c)) return false;
  if (summed.empty()) return multiply(graph, n, a, b, result);
  if (a.dims_of(batch) != b.dims_of(batch) || a.dims_of(summed) != b.dims_of(summed)) return false;
  Value* left = as_matrices(graph, a, batch, rows, summed, &n);
  Value* right = as_matrices(graph, b, batch, summed, columns, &n);
  if (!left || !right) return false;
  Dims dims = a.dims_of(batch + rows);
  for (Dim d : b.dims_of(columns)) dims.push_back(d);
  Value* product = graph.make("MatMul", {left, right}, {}, &n);
  product->producer->numerics = n.numerics;
  product = reshape_to(graph, product, dims, &n);
  if (!product) return false;
  ir::Ints perm;
  for (char c : result) perm.push_back(static_cast<std::int64_t>((batch + rows + columns).find(c)));
  graph.replace_uses(n.out(), transpose_by(graph, product, perm, &n));
  return true;
}

bool run(ir::Graph& graph) { return try_each(graph, try_lower); }

}  // namespace

Pass pass_lower_einsum() { return {.name = "lower_einsum", .run = run}; }

}  // namespace tenfold::passes
