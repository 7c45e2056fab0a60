// Constants made from constants: computed now by the reference kernels, with the recipe kept where a refit may ask for it again.
//
// Rules make constants out of the model's weights only this way, and decide by a constant's value only through look() (passes/match.h):
// then a refittable plan can follow when a weight changes.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ops {

bool operands_constant(const ir::Node& node);
// The results of a node whose operands are all constant.
std::vector<ir::Value*> fold(ir::Graph& graph, const ir::Node& node);
// The first result of `op`; `name` is what the constant is to be called.
ir::Value* fold(ir::Graph& graph, std::string_view op, std::vector<ir::Value*> operands, ir::Attributes attributes, std::string_view name);
// The result of a pointwise computation.
ir::Value* fold(ir::Graph& graph, ir::Body body, std::vector<ir::Value*> operands, std::string_view name);
// The same elements under another shape.
ir::Value* fold_reshape(ir::Graph& graph, ir::Value* constant, const Shape& shape, std::string_view name);

}  // namespace tenfold::ops
