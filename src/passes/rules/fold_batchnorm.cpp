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
#include "passes/match.h"
#include "passes/pass.h"

namespace tenfold::passes {
namespace {

struct Affine { std::vector<double> scale, shift; };

std::optional<Affine> affine_of(const ir::Node& n) {
  for (int i = 1; i <= 4; ++i)
    if (!n.in(i) || !n.in(i)->is_constant()) return std::nullopt;
  const auto at = [&](int i, std::int64_t c) { return n.in(i)->constant->tensor.as_double(c); };
  const double epsilon = n.attributes.number("epsilon", 1e-5f);
  Affine a;
  for (std::int64_t c = 0; c < n.in(1)->constant->tensor.size(); ++c) {
    a.scale.push_back(at(1, c) / std::sqrt(at(4, c) + epsilon));
    a.shift.push_back(at(2, c) - at(3, c) * a.scale.back());
  }
  return a;
}

Tensor vector_of(const std::vector<double>& values, Shape shape) {
  Tensor t(DType::f32, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) t.mutable_data<float>()[i] = static_cast<float>(values[i]);
  return t;
}

// Output channel of a weight element: dim 0 of Conv's weights, dim 1 within its group of ConvTranspose's.
Tensor scaled_weights(const Tensor& w, const Affine& a, bool transposed, std::int64_t groups) {
  Tensor out(DType::f32, w.shape());
  std::int64_t inner = 1;
  for (std::size_t d = 2; d < w.shape().size(); ++d) inner *= w.shape()[d];
  const std::int64_t rows = w.shape()[0], columns = w.shape()[1];
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < columns; ++k) {
      const std::int64_t channel = transposed ? r / (rows / groups) * columns + k : r;
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t at = (r * columns + k) * inner + i;
        out.mutable_data<float>()[at] = static_cast<float>(w.data<float>()[at] * a.scale[static_cast<std::size_t>(channel)]);
      }
    }
  return out;
}

bool into_convolution(ir::Graph& graph, ir::Node& bn, Affine a) {
  ir::Node* conv = made_by(bn.in(0), "Conv");
  if (!conv) conv = made_by(bn.in(0), "ConvTranspose");
  if (!conv || only_user(graph, conv->out()) != &bn) return false;
  if (!conv->in(1)->is_constant() || conv->in(1)->dtype() != DType::f32 || (conv->in(2) && !conv->in(2)->is_constant())) return false;
  const Tensor& w = conv->in(1)->constant->tensor;
  const bool transposed = conv->op() == "ConvTranspose";
  if (conv->in(2))
    for (std::size_t c = 0; c < a.shift.size(); ++c) a.shift[c] += conv->in(2)->constant->tensor.as_double(static_cast<std::int64_t>(c)) * a.scale[c];
  ir::Value* weights = graph.add_constant(scaled_weights(w, a, transposed, conv->attributes.integer("group", 1)), conv->in(1)->name + "_bn");
  ir::Value* bias = graph.add_constant(vector_of(a.shift, {static_cast<std::int64_t>(a.shift.size())}), conv->name + "_bn_bias");
  graph.replace_uses(bn.out(), graph.add(conv->op(), {conv->in(0), weights, bias}, conv->attributes, 1, conv->name, &bn)->out());
  return true;
}

bool run(ir::Graph& graph) {
  bool changed = false;
  for (ir::Node* n : graph.node_list()) {
    if (n->op() != "BatchNormalization" || n->body || n->outputs.size() != 1 || n->out()->dtype() != DType::f32) continue;
    std::optional<Affine> a = affine_of(*n);
    if (!a) continue;
    if (!into_convolution(graph, *n, *a)) {
      Shape shape{static_cast<std::int64_t>(a->scale.size())};
      for (int d = 2; d < n->in(0)->rank(); ++d) shape.push_back(1);
      ir::Value* scale = graph.add_constant(vector_of(a->scale, shape), n->name + "_scale");
      ir::Value* shift = graph.add_constant(vector_of(a->shift, shape), n->name + "_shift");
      graph.replace_uses(n->out(), graph.make("Add", {graph.make("Mul", {n->in(0), scale}, {}, n), shift}, {}, n));
    }
    changed = true;
  }
  return changed;
}

}  // namespace

Pass pass_fold_batchnorm() { return {.name = "fold_batchnorm", .run = run}; }

}  // namespace tenfold::passes
