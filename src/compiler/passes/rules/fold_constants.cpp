// fold_constants: a node whose operands are all constants, or whose result is known from shapes alone, becomes a constant.
//
// before: (x f32[2,3])
//   a = f32[3]{1.0,2.0,3.0}
//   b = f32[3]{0.5,0.5,0.5}
//   c = Add(a, b)
//   y = Mul(x, c)
// after: (x f32[2,3])
//   c = f32[3]{1.5,2.5,3.5}
//   y = Mul(x, c)
#include <algorithm>
#include <optional>

#include "base/types/element.h"
#include "ops/fold.h"
#include "passes/fold_constants.h"

namespace tenfold::passes {
namespace {

constexpr std::int64_t kGrowthLimit = 1 << 20;   // a result may be this much larger than its operands, in bytes: Expand must not explode
constexpr std::int64_t kWeightLimit = 1 << 30;   // the same of weights, which kernels of products pack: computed anew, most have none

std::int64_t bytes_of(const std::vector<ir::Value*>& values) {
  std::int64_t bytes = 0;
  for (const ir::Value* v : values)
    if (v && ir::is_constant(v->dims()) && v->dtype() != DType::string)
      bytes += byte_size(v->dtype(), element_count(ir::constants(v->dims())));
  return bytes;
}

bool multiplies(const ir::Node& user, const ir::Value* weight) {
  return user.def->traits.gemm_kind != ir::GemmKind::none && user.inputs.size() > 1 && user.in(1) == weight && user.in(0) != weight;
}

template <class Reads>
bool all_readers(const ir::Graph& graph, const ir::Node& node, const Reads& reads) {
  const ir::Value* v = node.outputs.size() == 1 ? node.outputs[0] : nullptr;
  return v && !graph.is_output(v) && !v->users.empty() &&
         std::all_of(v->users.begin(), v->users.end(), [&](const ir::Node* user) { return reads(*user, v); });
}

// Are all its readers products, with this as the second operand?
bool is_weight(const ir::Graph& graph, const ir::Node& node) { return all_readers(graph, node, multiplies); }

// Every element is a number although the operands are not constants: shape arithmetic that came out whole.
bool known_from_shapes(const ir::Value& v) {
  return v.type.kind == ir::ValueType::Kind::tensor && v.contents && ir::is_constant(*v.contents) && ir::is_constant(v.dims());
}

bool fold_by_shape(ir::Graph& graph, ir::Node& node) {
  bool changed = false;
  for (ir::Value* v : node.outputs) {
    if (!known_from_shapes(*v) || (v->users.empty() && !graph.is_output(v))) continue;
    Tensor t(v->dtype(), ir::constants(v->dims()));
    if (t.size() != static_cast<std::int64_t>(v->contents->size())) continue;
    for (std::int64_t i = 0; i < t.size(); ++i) {
      const std::int64_t value = (*v->contents)[static_cast<std::size_t>(i)].constant();
      store_int(t.dtype(), t.mutable_raw(), i, value);
    }
    graph.replace_uses(v, graph.add_constant(std::move(t), v->name));
    changed = true;
  }
  return changed;
}

// Large weights that are stored in `type` and that all readers multiply, or take rows of: the precision stage narrows these readers, and
// finds the weights as they are stored. Widened here they would be twice as large for nothing, for each profile.
bool stays_stored(const ir::Graph& graph, const ir::Node& node, DType type) {
  constexpr std::int64_t kLarge = 1 << 20;   // bytes
  if (node.op() != "Cast" || !node.in(0)->is_constant() || node.in(0)->dtype() != type || bytes_of(node.inputs) < kLarge) return false;
  return node.outputs[0]->dtype() == DType::f32 && all_readers(graph, node, [&](const ir::Node& user, const ir::Value* v) {
    const bool takes_rows = user.op() == "Gather" && user.in(0) == v && user.in(1) != v;
    return multiplies(user, v) || takes_rows || (user.op() == "Transpose" && is_weight(graph, user));
  });
}

// Moves what is stored, and casts behind that.
bool fold_before_cast(ir::Graph& graph, ir::Node& node, DType type) {
  ir::Node* const cast = node.op() == "Transpose" ? node.in(0)->producer : nullptr;
  if (!cast || !stays_stored(graph, *cast, type)) return false;
  ir::Value* const moved = ops::fold(graph, "Transpose", {cast->in(0)}, node.attributes, node.outputs[0]->name);
  graph.replace_uses(node.outputs[0], graph.make("Cast", {moved}, cast->attributes, &node));
  return true;
}

bool fold_by_value(ir::Graph& graph, ir::Node& node) {
  if (node.op() == "DequantizeLinear") return false;   // the precision stage decides whether a weight stays in 8 bits
  if (node.inputs.empty() || !ops::operands_constant(node) || !node.def->pure || !node.graphs.empty() || node.anchor_inputs >= 0)
    return false;
  for (const ir::Value* v : node.outputs)
    if (v->type.kind != ir::ValueType::Kind::tensor || v->dtype() == DType::string) return false;
  // What has one number for each of one operand grows by the width of a type at most, and products want constant weights.
  const bool one_for_one = node.def->scalar && node.inputs.size() == 1;
  const std::int64_t limit = is_weight(graph, node) ? kWeightLimit : kGrowthLimit;
  if (!one_for_one && bytes_of(node.outputs) > bytes_of(node.inputs) + limit) return false;
  const std::vector<ir::Value*> results = ops::fold(graph, node);
  for (std::size_t i = 0; i < results.size(); ++i) graph.replace_uses(node.outputs[i], results[i]);
  return true;
}

bool run(ir::Graph& graph, std::optional<DType> stored) {
  bool changed = false;
  for (ir::Node* node : graph.node_list()) {
    if (stored && fold_before_cast(graph, *node, *stored)) changed = true;
    else if (!stored || !stays_stored(graph, *node, *stored)) changed = fold_by_shape(graph, *node) || fold_by_value(graph, *node) || changed;
  }
  return changed;
}

}  // namespace

Pass pass_fold_constants() { return pass_fold_constants_but({}); }
Pass pass_fold_constants_but(std::optional<DType> stored) {
  return {.name = "fold_constants", .run = [stored](ir::Graph& graph) { return run(graph, stored); }};
}

}  // namespace tenfold::passes
