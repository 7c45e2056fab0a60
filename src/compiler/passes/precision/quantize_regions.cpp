#include "passes/precision/quantize_regions.h"

#include "ops/fold.h"

namespace tenfold::passes {
namespace {

// A parameter inside a body: a number if there is one for the whole tensor, else an operand that broadcasts along the axis.
class Parameters {
 public:
  Parameters(ir::Graph& graph, const ir::Value* like, const Params& p) : graph_(graph), rank_(like->rank()), params_(p) {}
  std::vector<ir::Value*> operands;

  // The operand's number among the body's inputs is fixed before code is appended.
  void declare(std::vector<DType>& inputs, ir::Value* values) {
    if (params_.per_tensor()) return;
    Shape shape(static_cast<std::size_t>(rank_ - params_.axis), 1);
    shape[0] = values->constant->tensor.size();
    if (values->dtype() != DType::f32) values = ops::fold(graph_, "Cast", {values}, {{"to", std::string("f32")}}, values->name);
    operands.push_back(ops::fold_reshape(graph_, values, shape, values->name));
    inputs.push_back(DType::f32);
  }

 private:
  ir::Graph& graph_;
  int rank_;
  const Params& params_;
};

bool any_zero_point(const Params& p) {
  for (const std::int32_t z : p.zeros) {
    if (z != 0) return true;
  }
  return false;
}

void to_region(ir::Graph& graph, ir::Node& node, const Params& p) {
  const bool quantize = is_quantize(&node), moved = any_zero_point(p);
  std::vector<DType> inputs{node.in(0)->dtype()};
  Parameters parameters(graph, node.in(0), p);
  parameters.declare(inputs, node.in(1));
  if (moved) parameters.declare(inputs, node.in(2));
  ir::BodyBuilder b(inputs);
  const auto scale = [&] { return p.per_tensor() ? b.constant(DType::f32, p.scales[0]) : std::uint16_t{1}; };
  const auto zero = [&] { return p.per_tensor() ? b.constant(DType::f32, p.zeros[0]) : std::uint16_t{2}; };
  std::uint16_t y = 0;
  if (quantize) {
    const std::uint16_t divisor = scale();
    y = b.binary(ir::Prim::div, y, divisor);
    if (!is_float(p.dtype)) y = b.unary(ir::Prim::round_even, y);
    if (moved) y = b.binary(ir::Prim::add, y, zero());
    y = is_float(p.dtype) ? b.cast(y, p.dtype) : b.emit({.prim = ir::Prim::saturate, .dtype = p.dtype, .a = y});
  } else {
    y = b.cast(y, DType::f32);
    if (moved) y = b.binary(ir::Prim::sub, y, zero());
    y = b.binary(ir::Prim::mul, y, scale());
  }
  ir::Node region;
  region.def = &graph.registry().get("Region");
  region.name = node.name;
  region.inputs = {node.in(0)};
  region.inputs.insert(region.inputs.end(), parameters.operands.begin(), parameters.operands.end());
  region.body = b.finish({y});
  graph.replace_uses(node.out(), graph.add(std::move(region), 1, &node)->out());
}

bool fold_constant(ir::Graph& graph, ir::Node& node) {
  if (!ops::operands_constant(node)) return false;
  graph.replace_uses(node.out(), ops::fold(graph, node)[0]);
  return true;
}

}  // namespace

bool quantize_regions(ir::Graph& graph, bool float8) {
  bool changed = false;
  for (ir::Node* node : graph.node_list()) {
    if (!is_quantize(node) && !is_dequantize(node)) continue;
    if (fold_constant(graph, *node)) {
      changed = true;
    } else if (const auto p = params_of(node, float8)) {
      to_region(graph, *node, *p);
      changed = true;
    }
  }
  return changed;
}

}  // namespace tenfold::passes
