#include "passes/precision/fold_gemms.h"

#include <algorithm>

#include "base/check.h"
#include "base/types/element.h"
#include "ops/fold.h"

namespace tenfold::passes {
namespace {

constexpr std::int64_t kMaxDepth = 65000;  // sums of products of 255 * 128 stay within 32 bits

using Kind = NarrowProducts;

bool takes(Kind kind, DType type) { return kind == Kind::float8 ? type == DType::f8e4m3fn : type == DType::u8 || type == DType::i8; }

// Nothing corrects for zero points of weights there.
bool fits_gpu(const ir::Node& node, const Params& weight) {
  return fits_tensor_cores(node) && std::all_of(weight.zeros.begin(), weight.zeros.end(), [](std::int32_t z) { return z == 0; });
}

// The 8-bit operands of a product and their parameters.
struct Operands {
  const ir::Node *x = nullptr, *w = nullptr;  // DequantizeLinear
  Params x_params, w_params;
  bool turned = false;  // the product sees the weight transposed
};

std::optional<Operands> operands_of(const ir::Node& node, Kind kind) {
  Operands o;
  o.x = node.in(0)->producer;
  o.w = node.in(1)->producer;
  if (o.w != nullptr && o.w->op() == "Transpose" && !o.w->body && o.w->in(0)->rank() == 2 && node.op() == "MatMul" &&
      o.w->attributes.ints("perm", {1, 0}) == ir::Ints{1, 0}) {
    o.turned = true;
    o.w = o.w->in(0)->producer;
  }
  if (node.body || !is_dequantize(o.x) || !is_dequantize(o.w)) return {};
  const bool float8 = kind == Kind::float8;
  const auto xp = params_of(o.x, float8), wp = params_of(o.w, float8);
  if (!xp || !wp || !xp->per_tensor() || !takes(kind, xp->dtype) || !takes(kind, wp->dtype)) return {};
  if (o.x->in(0)->is_constant() || !o.w->in(0)->is_constant()) return {};
  if (kind != Kind::integers && !fits_gpu(node, *wp)) return {};
  o.x_params = *xp;
  o.w_params = *wp;
  return o;
}

// A constant of floats from a constant or the dequantization of one (a bias of 32-bit integers); null if neither.
ir::Value* constant_floats(ir::Graph& graph, ir::Value* value) {
  if (!value->is_constant()) {
    const ir::Node* node = value->producer;
    if (!is_dequantize(node) || !ops::operands_constant(*node)) return nullptr;
    value = ops::fold(graph, *node)[0];
  }
  return value->dtype() == DType::f32 ? value : nullptr;
}

// The zero points as the integer operator wants them; null if all are zero.
ir::Value* zero_points(ir::Graph& graph, const Params& p, std::string_view stem) {
  bool any = false;
  for (const std::int32_t z : p.zeros) any = any || z != 0;
  if (!any) return nullptr;
  Tensor t(p.dtype, p.per_tensor() ? Shape{} : Shape{static_cast<std::int64_t>(p.zeros.size())});
  for (std::size_t i = 0; i < p.zeros.size(); ++i) store_int(p.dtype, t.mutable_raw(), static_cast<std::int64_t>(i), p.zeros[i]);
  return graph.add_constant(std::move(t), graph.unique_name(stem));
}

// The anchor of 8 bits and the scale behind it. `shape`: of per-channel constants, so that they broadcast to the result.
ir::Value* anchor(ir::Graph& graph, ir::Node& node, std::string_view op, const Operands& o, ir::Value* weight, ir::Attributes attributes,
                  const Shape& shape) {
  std::vector<ir::Value*> inputs{o.x->in(0), weight, zero_points(graph, o.x_params, node.name + "_x_zero"),
                                 zero_points(graph, o.w_params, node.name + "_w_zero")};
  while (inputs.back() == nullptr) inputs.pop_back();
  ir::Value* sum = graph.add(op, std::move(inputs), std::move(attributes), 1, node.name, &node)->out();
  ir::Value* scale = ops::fold(graph, "Mul", {o.w->in(1), o.x->in(1)}, {}, node.name + "_scale");
  scale = ops::fold_reshape(graph, scale, o.w_params.per_tensor() ? Shape{} : shape, scale->name);
  if (sum->dtype() != DType::f32) sum = graph.make("Cast", {sum}, {{"to", "f32"}}, &node);
  return graph.make("Mul", {sum, scale}, {}, &node);
}

// The weight as k x n, if its scales lie along n and sums stay within 32 bits; null if not.
ir::Value* weight_of(ir::Graph& graph, const Operands& o, std::int64_t& n) {
  ir::Value* w = o.w->in(0);
  if (w->rank() != 2) return nullptr;
  const std::int64_t k = w->dims()[o.turned ? 1 : 0].constant();
  n = w->dims()[o.turned ? 0 : 1].constant();
  if (k > kMaxDepth || (!o.w_params.per_tensor() && o.w_params.axis != (o.turned ? 0 : 1))) return nullptr;
  return o.turned ? ops::fold(graph, "Transpose", {w}, {{"perm", ir::Ints{1, 0}}}, w->name) : w;
}

const char* product(Kind kind) { return kind == Kind::float8 ? "MatMulFloat8" : "MatMulInteger"; }
const char* convolution(Kind kind) { return kind == Kind::float8 ? "ConvFloat8" : "ConvInteger"; }

bool fold_matmul(ir::Graph& graph, ir::Node& node, Kind kind) {
  const auto o = operands_of(node, kind);
  std::int64_t n = 0;
  ir::Value* weight = o && node.in(0)->rank() >= 2 ? weight_of(graph, *o, n) : nullptr;
  if (weight == nullptr) return false;
  graph.replace_uses(node.out(), anchor(graph, node, product(kind), *o, weight, {}, {n}));
  return true;
}

// The bias of a product as a constant that broadcasts to its result, times `factor`; null: not constant.
ir::Value* bias_of(ir::Graph& graph, const ir::Node& node, const Shape& shape, float factor) {
  ir::Value* bias = constant_floats(graph, node.in(2));
  if (bias == nullptr) return nullptr;
  const std::string name = node.name + "_bias";
  if (factor != 1) {
    ir::BodyBuilder b({DType::f32});
    bias = ops::fold(graph, b.finish({b.binary(ir::Prim::mul, 0, b.constant(DType::f32, factor))}), {bias}, name);
  }
  return bias->constant->tensor.size() == element_count(shape) ? ops::fold_reshape(graph, bias, shape, name) : bias;
}

bool fold_gemm(ir::Graph& graph, ir::Node& node, Kind kind) {
  auto o = operands_of(node, kind);
  if (!o || node.attributes.integer("transA", 0) != 0 || node.attributes.number("alpha", 1) != 1) return false;
  o->turned = node.attributes.integer("transB", 0) != 0;
  std::int64_t n = 0;
  ir::Value* weight = weight_of(graph, *o, n);
  if (weight == nullptr) return false;
  ir::Value* bias = nullptr;
  if (node.in(2) != nullptr) {
    bias = bias_of(graph, node, {n}, node.attributes.number("beta", 1));
    if (bias == nullptr) return false;
  }
  ir::Value* y = anchor(graph, node, product(kind), *o, weight, {}, {n});
  graph.replace_uses(node.out(), bias ? graph.make("Add", {y, bias}, {}, &node) : y);
  return true;
}

bool fold_conv(ir::Graph& graph, ir::Node& node, Kind kind) {
  const auto o = operands_of(node, kind);
  if (!o || (!o->w_params.per_tensor() && o->w_params.axis != 0)) return false;
  const std::vector<std::int64_t> w = ir::constants(o->w->in(0)->dims());
  if (element_count(w) > kMaxDepth * w[0]) return false;
  Shape shape(w.size() - 1, 1);  // [channels, 1, 1]
  shape[0] = w[0];
  ir::Value* bias = nullptr;
  if (node.in(2) != nullptr) {
    bias = bias_of(graph, node, shape, 1);
    if (bias == nullptr) return false;
  }
  ir::Value* y = anchor(graph, node, convolution(kind), *o, o->w->in(0), node.attributes, shape);
  graph.replace_uses(node.out(), bias ? graph.make("Add", {y, bias}, {}, &node) : y);
  return true;
}

}  // namespace

bool fits_tensor_cores(const ir::Node& node) {
  const bool conv = node.op() == "Conv";
  const ir::Dim depth = node.in(0)->dims()[conv ? 1 : node.in(0)->dims().size() - 1];
  if (!depth.is_constant()) return false;
  if (conv && node.attributes.string("auto_pad", "NOTSET") != "NOTSET") return false;
  const std::int64_t groups = conv ? node.attributes.integer("group", 1) : 1;
  const bool depthwise = conv && groups == depth.constant() && node.in(1)->dims()[0] == depth && depth.constant() > 1;
  return depthwise ? depth.constant() % 8 == 0 : groups == 1 && depth.constant() % 16 == 0;
}

bool fold_gemms(ir::Graph& graph, NarrowProducts kind) {
  bool changed = false;
  for (ir::Node* node : graph.node_list()) {
    const std::string& op = node->op();
    if (node->numerics.type && bits(*node->numerics.type) > 8) continue;   // the user wants this layer in floats
    changed = (op == "MatMul" && fold_matmul(graph, *node, kind)) || (op == "Gemm" && fold_gemm(graph, *node, kind)) ||
              (op == "Conv" && fold_conv(graph, *node, kind)) || changed;
  }
  return changed;
}

}  // namespace tenfold::passes
