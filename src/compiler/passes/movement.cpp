// Questions and shorthands on transposes, reshapes and reductions.
#include "passes/movement.h"

#include <algorithm>

#include "ir/shape_operand.h"

namespace tenfold::passes {

ir::Ints perm_of(const ir::Node& n) {
  ir::Ints reversed;
  for (int i = n.in(0)->rank(); i-- > 0;) reversed.push_back(i);
  return n.attributes.ints("perm", reversed);
}

ir::Ints inverse(const ir::Ints& perm) {
  ir::Ints back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return back;
}

bool is_identity(const ir::Ints& perm) { return std::is_sorted(perm.begin(), perm.end()); }

bool is_reshape(const ir::Node& n) {
  return !n.body && n.def->traits.movement == ir::Movement::reshape && !ir::is_checked_by_run(n);
}

ir::Value* reshape_to(ir::Graph& graph, ir::Value* x, const ir::Dims& dims, ir::Node* before) {
  while (x->dims() != dims && x->producer && is_reshape(*x->producer)) x = x->producer->in(0);   // one reshape is enough
  if (x->dims() == dims) return x;
  // A constant extent is said outright, an unknown one by copying the operand's at the same place, one more by what is left over.
  const bool constant = ir::is_constant(dims);
  Tensor shape(DType::i64, {static_cast<std::int64_t>(dims.size())});
  int open = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::int64_t& extent = shape.mutable_data<std::int64_t>()[i];
    if (dims[i].is_constant() && (constant || dims[i] != ir::Dim(0))) extent = dims[i].constant();
    else if (!constant && i < x->dims().size() && x->dims()[i] == dims[i]) extent = 0;
    else if (open++ == 0) extent = -1;
    else return nullptr;
  }
  if (open && x->dims().empty()) return nullptr;
  ir::Node* n = graph.add("Reshape", {x, graph.add_constant(std::move(shape))}, {{"allowzero", std::int64_t{constant}}}, 1, "", before);
  if (n->out()->dims() == dims) return n->out();
  graph.erase(*n);
  return nullptr;
}

ir::Value* transpose_by(ir::Graph& graph, ir::Value* x, const ir::Ints& perm, ir::Node* before) {
  return is_identity(perm) ? x : graph.make("Transpose", {x}, {{"perm", perm}}, before);
}

bool is_reduction(const ir::Node& n) {
  return n.def->traits.reduction != ir::ReductionKind::none && !n.body && n.outputs.size() == 1 && n.attributes.has("keepdims") &&
         (!n.in(1) || (n.in(1)->contents && ir::is_constant(*n.in(1)->contents)));
}

std::optional<ir::Ints> reduced_axes(const ir::Node& n) {
  if (!is_reduction(n)) return std::nullopt;
  ir::Ints axes = n.attributes.ints("axes", {});
  if (n.in(1)) {
    axes.clear();
    for (ir::Dim d : *n.in(1)->contents) axes.push_back(d.constant());
  }
  const int rank = n.in(0)->rank();
  if (axes.empty() && n.attributes.integer("noop_with_empty_axes", 0) != 0) return std::nullopt;
  if (axes.empty())
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  for (std::int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

}  // namespace tenfold::passes
