// fold_batchnorm: an inference BatchNormalization is a scale and a shift per channel; after a convolution with constant
// weights both go into the weights and the bias, otherwise they stay as Mul and Add.
//
// before: (x f32[1,3,8,8], w f32[4,3,3,3]!, s f32[4]!, b f32[4]!, m f32[4]!)
//   v = f32[4]{1.0,2.0,0.5,1.5}
//   c = Conv(x, w) kernel_shape=[3,3]
//   y = BatchNormalization(c, s, b, m, v)
// after: (x f32[1,3,8,8])
//   w2 = constant f32[4,3,3,3]
//   b2 = constant f32[4]
//   y = Conv(x, w2, b2) kernel_shape=[3,3]
#include "ops/fold.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

using ir::BodyBuilder;
using ir::Prim;
using ir::Value;

// What the normalization multiplies each channel by, in f64: scale / sqrt(variance + epsilon). Null: not constant.
Value* factor_of(ir::Graph& graph, const ir::Node& bn) {
  for (int i = 1; i <= 4; ++i)
    if (!bn.in(i) || !bn.in(i)->is_constant()) return nullptr;
  BodyBuilder b({bn.in(1)->dtype(), bn.in(4)->dtype()});
  const auto scale = b.cast(0, DType::f64), variance = b.cast(1, DType::f64);
  const auto epsilon = b.constant(DType::f64, static_cast<double>(bn.attributes.number("epsilon", 1e-5f)));
  const auto factor = b.binary(Prim::div, scale, b.unary(Prim::sqrt, b.binary(Prim::add, variance, epsilon)));
  return ops::fold(graph, b.finish({factor}), {bn.in(1), bn.in(4)}, bn.name + "_factor");
}

// What it adds to each channel: bias - mean * factor, and what the convolution before it added, times the factor.
Value* shift_of(ir::Graph& graph, const ir::Node& bn, Value* factor, Value* added) {
  std::vector<DType> types{bn.in(2)->dtype(), bn.in(3)->dtype(), DType::f64};
  std::vector<Value*> operands{bn.in(2), bn.in(3), factor};
  if (added) types.push_back(added->dtype()), operands.push_back(added);
  BodyBuilder b(types);
  auto shift = b.binary(Prim::sub, b.cast(0, DType::f64), b.binary(Prim::mul, b.cast(1, DType::f64), 2));
  if (added) shift = b.binary(Prim::add, shift, b.binary(Prim::mul, b.cast(3, DType::f64), 2));
  return ops::fold(graph, b.finish({b.cast(shift, DType::f32)}), std::move(operands), bn.name + "_shift");
}

// Output channel of a weight element: dim 0 of Conv's weights, dim 1 within its group of ConvTranspose's.
Value* scaled_weights(ir::Graph& graph, const ir::Node& conv, Value* factor) {
  Value* w = conv.in(1);
  const Shape shape = w->constant->tensor.shape();
  const std::int64_t groups = conv.op() == "ConvTranspose" ? conv.attributes.integer("group", 1) : shape[0];
  const std::int64_t rows = shape[0] / groups, columns = conv.op() == "ConvTranspose" ? shape[1] : 1;
  Value* grouped = ops::fold_reshape(graph, w, {groups, rows, columns, element_count(shape) / (groups * rows * columns)}, w->name);
  Value* factors = ops::fold_reshape(graph, factor, {groups, 1, columns, 1}, factor->name);
  BodyBuilder b({DType::f32, DType::f64});
  const auto scaled = b.cast(b.binary(Prim::mul, b.cast(0, DType::f64), 1), DType::f32);
  return ops::fold_reshape(graph, ops::fold(graph, b.finish({scaled}), {grouped, factors}, w->name), shape, w->name + "_bn");
}

bool into_convolution(ir::Graph& graph, ir::Node& bn) {
  ir::Node* conv = made_by(bn.in(0), "Conv");
  if (!conv) conv = made_by(bn.in(0), "ConvTranspose");
  if (!conv || only_user(graph, conv->out()) != &bn) return false;
  if (!conv->in(1)->is_constant() || conv->in(1)->dtype() != DType::f32 || conv->in(1)->constant->tensor.size() == 0) return false;
  if (conv->in(2) && !conv->in(2)->is_constant()) return false;
  Value* factor = factor_of(graph, bn);
  if (!factor) return false;
  Value* bias = shift_of(graph, bn, factor, conv->in(2));
  Value* weights = scaled_weights(graph, *conv, factor);
  graph.replace_uses(bn.out(), graph.add_like(*conv, {conv->in(0), weights, bias}, &bn)->out());
  return true;
}

// Alone it stays a factor and a shift per channel.
bool into_pointwise(ir::Graph& graph, ir::Node& bn) {
  Value* factor = factor_of(graph, bn);
  if (!factor) return false;
  Shape shape{factor->constant->tensor.size()};
  for (int d = 2; d < bn.in(0)->rank(); ++d) shape.push_back(1);
  Value* scale =
      ops::fold(graph, "Cast", {ops::fold_reshape(graph, factor, shape, factor->name)}, {{"to", std::string("f32")}}, bn.name + "_scale");
  Value* shift = ops::fold_reshape(graph, shift_of(graph, bn, factor, nullptr), shape, bn.name + "_shift");
  graph.replace_uses(bn.out(), graph.make("Add", {graph.make("Mul", {bn.in(0), scale}, {}, &bn), shift}, {}, &bn));
  return true;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* n : graph.node_list()) {
    if (n->op() != "BatchNormalization" || n->body || n->outputs.size() != 1 || n->out()->dtype() != DType::f32) continue;
    changed = into_convolution(graph, *n) || into_pointwise(graph, *n) || changed;
  }
  return changed;
}

}  // namespace

Pass pass_fold_batchnorm() { return {.name = "fold_batchnorm", .run = run}; }

}  // namespace tenfold::passes
