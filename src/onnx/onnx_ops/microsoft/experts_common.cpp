// The router, the layers and their activation, and the weighted sum.
#include "onnx_ops/microsoft/experts_common.h"

namespace tenfold::onnx_ops {
namespace {

Value* clipped(OnnxImport& call, Value* x, bool below) {
  if (!call.attributes.has("swiglu_limit")) return x;
  const auto limit = static_cast<double>(call.attributes.number("swiglu_limit"));
  return one(call, "Clip", {x, below ? call.scalar(x->dtype(), -limit) : nullptr, call.scalar(x->dtype(), limit)});
}

// G sigmoid(alpha G) (L + beta).
Value* swiglu(OnnxImport& call, Value* gate, Value* linear) {
  gate = clipped(call, gate, false), linear = clipped(call, linear, true);
  Value* swish = one(call, "Swish", {gate}, {{"alpha", call.attributes.number("activation_alpha", 1.0f)}});
  Value* beta = call.scalar(linear->dtype(), static_cast<double>(call.attributes.number("activation_beta", 0.0f)));
  return one(call, "Mul", {swish, one(call, "Add", {linear, beta})});
}

// Every second column from `first` on, or one half of the columns.
Value* columns(OnnxImport& call, Value* x, std::int64_t first, std::int64_t half, bool interleaved) {
  const std::int64_t begin = interleaved ? first : first * half, end = interleaved ? 2 * half : (first + 1) * half;
  return one(call, "Slice", {x, call.ints({begin}), call.ints({end}), call.ints({2}), call.ints({interleaved ? 2 : 1})});
}

Value* layer(OnnxImport& call, Value* x, const Layer& of) {
  Value* y = one(call, "MatMul", {x, transposed(call, of.weights, {0, 2, 1})});
  return of.bias ? one(call, "Add", {y, unsqueezed(call, of.bias, {1})}) : y;
}

Value* activated(OnnxImport& call, Value* x, const Layer& first, const Layer& gate) {
  const std::string kind = call.attributes.string("activation_type", "relu");
  const std::int64_t fusion = call.attributes.integer("swiglu_fusion", 0);
  Value* y = layer(call, x, first);
  if (kind == "swiglu") {
    validate(fusion >= 0 && fusion <= 2, "swiglu_fusion is ", fusion, ", 0, 1 or 2 expected");
    if (fusion == 0) {
      validate(gate.weights != nullptr, "swiglu_fusion is 0, and the weights of the third layer are missing");
      return swiglu(call, y, layer(call, x, gate));
    }
    const std::int64_t half = first.weights->dims()[1].constant() / 2;
    return swiglu(call, columns(call, y, 0, half, fusion == 1), columns(call, y, 1, half, fusion == 1));
  }
  supported(gate.weights == nullptr, "a third layer beside the activation '", kind, "'");
  if (kind == "identity") return y;
  if (kind == "relu") return one(call, "Relu", {y});
  if (kind == "gelu") return one(call, "Gelu", {y}, {{"approximate", "tanh"}});
  if (kind == "silu") return one(call, "Swish", {y}, {{"alpha", 1.0f}});
  supported(false, "the activation '", kind, "', relu, gelu, silu, swiglu and identity are supported");
  return nullptr;
}

// How much each expert counts for each token, [tokens, experts]: 0 for all but the best.
Value* routed(OnnxImport& call, Value* mix) {
  supported(call.attributes.integer("use_sparse_mixer", 0) == 0, "use_sparse_mixer is not supported");
  const std::int64_t k = call.attributes.integer("k", 1);
  validate(k > 0, "k is ", k, ", a positive number expected");
  Value* chances = one(call, "Softmax", {call.in(1)}, {{"axis", -1}});
  const std::vector<Value*> best = call.add("TopK", {chances, call.ints({k})}, {{"axis", -1}}, 2);
  Value* shares = mix ? one(call, "GatherElements", {mix, best[1]}, {{"axis", 1}}) : best[0];
  if (call.attributes.integer("normalize_routing_weights", 0) != 0)
    shares = one(call, "Div", {shares, one(call, "ReduceSum", {shares}, {{"axes", Ints{-1}}, {"keepdims", 1}})});
  Value* none = one(call, "Expand", {call.scalar(shares->dtype(), 0), one(call, "Shape", {chances})});
  return one(call, "ScatterElements", {none, best[1], shares}, {{"axis", 1}});
}

void expect_weights(const Value* weights, const char* which) {
  check_shape(weights->type.ranked && weights->rank() == 3, "the weights of the ", which, " layer have another rank than 3");
  supported(is_constant(weights->dims()), "the weights of the ", which, " layer have a shape that only the run knows");
}

}  // namespace

std::vector<Value*> mixed_experts(OnnxImport& call, Layer first, Layer second, Layer gate, Value* mix) {
  expect_float(call, 0);
  const int rank = known_rank(call, 0);
  check_shape(rank == 2 || rank == 3, "the tokens have rank ", rank, ", 2 or 3 expected");
  check_shape(known_rank(call, 1) == 2, "the router's scores have rank ", known_rank(call, 1), ", 2 expected");
  expect_weights(first.weights, "first"), expect_weights(second.weights, "second");
  Value* x = call.in(0);
  Value* tokens = rank == 3 ? reshaped(call, x, {-1, first.weights->dims()[2].constant()}) : x;
  Value* y = layer(call, activated(call, unsqueezed(call, tokens, {0}), first, gate), second);   // [experts, tokens, outputs]
  Value* shares = unsqueezed(call, transposed(call, routed(call, mix), {1, 0}), {2});
  Value* sum = one(call, "ReduceSum", {one(call, "Mul", {y, shares})}, {{"axes", Ints{0}}, {"keepdims", 0}});
  return {rank == 3 ? one(call, "Reshape", {sum, one(call, "Shape", {x})}) : sum};
}

}  // namespace tenfold::onnx_ops
