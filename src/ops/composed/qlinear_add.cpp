// QLinearAdd and the other operators of ONNX Runtime's quantiser that ONNX has no integer form of: floats between DequantizeLinear and
// QuantizeLinear, so that one path of quantisation exists. Each operand comes with its scale and zero point.
#include "ops/composed/composed_common.h"

namespace tenfold::ir {
namespace {

using ops::one;

Value* real(OnnxImport& call, int first) { return ops::dequantized(call, call.need(first), call.need(first + 1), call.in(first + 2)); }

std::vector<Value*> rounded(OnnxImport& call, Value* value, int scale) {
  return {one(call, "QuantizeLinear", {value, call.need(scale), call.in(scale + 1)})};
}

std::vector<Value*> add(OnnxImport& call) { return rounded(call, one(call, "Add", {real(call, 0), real(call, 3)}), 6); }
std::vector<Value*> mul(OnnxImport& call) { return rounded(call, one(call, "Mul", {real(call, 0), real(call, 3)}), 6); }
std::vector<Value*> sigmoid(OnnxImport& call) { return rounded(call, one(call, "Sigmoid", {real(call, 0)}), 3); }

std::vector<Value*> leaky_relu(OnnxImport& call) {
  return rounded(call, one(call, "LeakyRelu", {real(call, 0)}, {{"alpha", call.attributes.number("alpha", 0.01f)}}), 3);
}

std::vector<Value*> softmax(OnnxImport& call) {
  require(call.attributes.integer("opset", 13) >= 13, ErrorKind::unsupported,
          "QLinearSoftmax by the rules before opset 13 is not supported");
  return rounded(call, one(call, "Softmax", {real(call, 0)}, {{"axis", call.attributes.integer("axis", -1)}}), 3);
}

Attributes channels_first(const OnnxImport& call) {
  require(call.attributes.integer("channels_last", 0) == 0, ErrorKind::unsupported, "channels_last is not supported");
  Attributes attributes = call.attributes;
  attributes.erase("channels_last");
  return attributes;
}

std::vector<Value*> average_pool(OnnxImport& call) {
  return rounded(call, one(call, "AveragePool", {real(call, 0)}, channels_first(call)), 3);
}

std::vector<Value*> global_average_pool(OnnxImport& call) {
  return rounded(call, one(call, "GlobalAveragePool", {real(call, 0)}, channels_first(call)), 3);
}

// The result's scale and zero point come first.
std::vector<Value*> concat(OnnxImport& call) {
  std::vector<Value*> parts;
  for (int i = 2; i < static_cast<int>(call.inputs.size()); i += 3) parts.push_back(real(call, i));
  return rounded(call, one(call, "Concat", parts, {{"axis", call.attributes.integer("axis")}}), 0);
}

// The bias is quantised by the scales of both operands; without a scale the result stays float.
std::vector<Value*> gemm(OnnxImport& call) {
  const std::int64_t turned_b = call.attributes.integer("transB", 0);
  Value* b = one(call, "DequantizeLinear", {call.need(3), call.need(4), call.in(5)}, {{"axis", turned_b ? 0 : 1}});
  std::vector<Value*> operands{real(call, 0), b};
  if (call.in(6)) {
    Value* scale = one(call, "Mul", {call.need(1), call.need(4)});
    const float alpha = call.attributes.number("alpha", 1.0f);
    if (alpha != 1) scale = one(call, "Mul", {scale, call.scalar(scale->dtype(), alpha)});
    operands.push_back(one(call, "DequantizeLinear", {call.in(6), scale}, {{"axis", ops::known_rank(call, 6) - 1}}));
  }
  Value* y = one(call, "Gemm", operands, call.attributes);
  return call.in(7) ? rounded(call, y, 7) : std::vector<Value*>{y};
}

}  // namespace

OpDef op_qlinear_add() {
  return ops::composed({{"QLinearAdd", 1, add, ops::kMicrosoft},
                        {"QLinearMul", 1, mul, ops::kMicrosoft},
                        {"QLinearSigmoid", 1, sigmoid, ops::kMicrosoft},
                        {"QLinearLeakyRelu", 1, leaky_relu, ops::kMicrosoft},
                        {"QLinearSoftmax", 1, softmax, ops::kMicrosoft},
                        {"QLinearAveragePool", 1, average_pool, ops::kMicrosoft},
                        {"QLinearGlobalAveragePool", 1, global_average_pool, ops::kMicrosoft},
                        {"QLinearConcat", 1, concat, ops::kMicrosoft},
                        {"QGemm", 1, gemm, ops::kMicrosoft}});
}

}  // namespace tenfold::ir
