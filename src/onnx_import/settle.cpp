// Small integers that constants and known shapes decide, computed at once: what follows may need them to know its own shapes.
//
// Inference follows integers by itself; this is for those that exporters compute with floats, or keep as floats: Cast([-1.0, 288.0]).
#include "base/element.h"
#include "onnx_import/importer.h"
#include "ops/interpret.h"

namespace tenfold::onnx_import {
namespace {

constexpr int kMostNodes = 64;   // behind one value
constexpr std::int64_t kMostElements = 64;

bool small(const ir::Value& v) {
  if (v.type.kind != ir::ValueType::Kind::tensor || !v.type.ranked || v.rank() > 1 || v.dtype() == DType::string) return false;
  return v.rank() == 0 || (v.dims()[0].is_constant() && v.dims()[0].constant() <= kMostElements);
}

Tensor of_contents(const ir::Value& v) {
  Tensor t(v.dtype(), ir::constants(v.dims()));
  for (std::int64_t i = 0; i < t.size(); ++i)
    store_int(t.dtype(), t.mutable_raw(), i, (*v.contents)[static_cast<std::size_t>(i)].constant());
  return t;
}

// Undefined if it is not known.
Tensor computed(const ir::Value& v, int& nodes) {
  if (!small(v)) return {};
  if (v.is_constant()) return v.constant->tensor;
  if (v.contents && ir::is_constant(*v.contents)) return of_contents(v);
  const ir::Node* node = v.producer;
  if (!node || !node->def->pure || !node->def->reference || !node->graphs.empty() || node->inputs.empty() || ++nodes > kMostNodes)
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

ir::Value* settled(ir::Graph& graph, ir::Value* value) {
  if (!value || value->is_constant() || value->contents || !small(*value) || !is_integer(value->dtype())) return value;
  int nodes = 0;
  try {
    const Tensor known = computed(*value, nodes);
    return known.defined() ? graph.add_constant(known) : value;
  } catch (const Error&) {   // it is not for now to say so: the node may not run at all
    return value;
  }
}

}  // namespace tenfold::onnx_import
