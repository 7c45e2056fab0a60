// Small integers that constants and known shapes decide, computed at once: what follows may need them to know its own shapes.
//
// Inference follows integers by itself; this is for those that exporters compute with floats, or keep as floats: Cast([-1.0, 288.0]).
#include "base/types/element.h"
#include "onnx_import/importer.h"
#include "ops/dim_rules.h"
#include "ops/interpret.h"

namespace tenfold::onnx_import {
namespace {

constexpr int kMaxNodes = 64;                               // behind one value
constexpr std::int64_t kMaxBehind = std::int64_t{1} << 12;  // elements of each of them: a product stays cheap

bool at_most(const ir::Value& v, std::int64_t elements) {
  if (v.type.kind != ir::ValueType::Kind::tensor || !v.type.ranked || v.dtype() == DType::string || !ir::is_constant(v.dims()))
    return false;
  for (const ir::Dim& d : v.dims()) {
    if (d.constant() > elements) return false;
    elements = d.constant() == 0 ? elements : elements / d.constant();
  }
  return true;
}

// What inference follows: integers of rank 1 at most, and few.
bool small(const ir::Value& v) { return v.type.ranked && v.rank() <= 1 && is_integer(v.dtype()) && at_most(v, ir::kMaxContents); }

Tensor of_contents(const ir::Value& v) {
  Tensor t(v.dtype(), ir::constants(v.dims()));
  for (std::int64_t i = 0; i < t.size(); ++i)
    store_int(t.dtype(), t.mutable_raw(), i, (*v.contents)[static_cast<std::size_t>(i)].constant());
  return t;
}

// Undefined if it is not known.
Tensor computed(const ir::Value& v, int& nodes) {
  if (!at_most(v, kMaxBehind)) return {};
  if (v.is_constant()) return v.constant->tensor;
  if (v.contents && ir::is_constant(*v.contents)) return of_contents(v);
  const ir::Node* node = v.producer;
  if (!node || !node->def->pure || !node->def->reference || !node->graphs.empty() || node->inputs.empty() || ++nodes > kMaxNodes)
    return {};
  std::vector<ops::RuntimeValue> operands;
  for (const ir::Value* operand : node->inputs) {
    const Tensor known = operand ? computed(*operand, nodes) : Tensor();
    if (operand && !known.defined()) return {};
    operands.push_back(operand ? ops::RuntimeValue(known) : ops::RuntimeValue());
  }
  return std::get<Tensor>(ops::run_node(*node, operands)[static_cast<std::size_t>(v.producer_index)]);
}

}  // namespace

ir::Value* fold_shape_constant(ir::Graph& graph, ir::Value* value) {
  if (!value || value->type.kind != ir::ValueType::Kind::tensor || value->is_constant() || value->contents || !small(*value)) return value;
  int nodes = 0;
  try {
    const Tensor known = computed(*value, nodes);
    return known.defined() ? graph.add_constant(known) : value;
  } catch (const Error&) {  // it is not for now to say so: the node may not run at all
    return value;
  }
}

}  // namespace tenfold::onnx_import
