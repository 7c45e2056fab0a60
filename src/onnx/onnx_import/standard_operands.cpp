// Written by tools/write_onnx_standard.py from the standard's own definitions: change that, not this.
//
// An operator, the first opset of a form, and what standard_table.h says of its text.
#include "onnx_import/standard_table.h"

namespace tenfold::onnx_import {

namespace {

// clang-format off
constexpr StandardForm operand_forms[] = {
    {"Add", 1, "aa"},
    {"And", 1, "aa"},
    {"Attention", 23, "aab.ab"},
    {"BatchNormalization", 1, "aaaaa"},
    {"BatchNormalization", 14, "aaabb"},
    {"BatchNormalization", 15, ".aabb"},
    {"BitShift", 11, "aa"},
    {"BitwiseAnd", 18, "aa"},
    {"BitwiseOr", 18, "aa"},
    {"BitwiseXor", 18, "aa"},
    {"CausalConvWithState", 27, "aaaa"},
    {"Clip", 11, "aaa"},
    {"Concat", 1, "a+"},
    {"Conv", 1, "aaa"},
    {"ConvInteger", 10, "abab"},
    {"ConvTranspose", 1, "aaa"},
    {"DeformConv", 19, "aaaaa"},
    {"DequantizeLinear", 10, "a.a"},
    {"Div", 1, "aa"},
    {"Einsum", 12, "a+"},
    {"Equal", 1, "aa"},
    {"GRU", 1, "aaaa.a"},
    {"Gemm", 1, "aaa"},
    {"Greater", 1, "aa"},
    {"GreaterOrEqual", 12, "aa"},
    {"GroupNormalization", 18, "aaa"},
    {"InstanceNormalization", 1, "aaa"},
    {"LSTM", 1, "aaaa.aaa"},
    {"LayerNormalization", 17, "aaa"},
    {"Less", 1, "aa"},
    {"LessOrEqual", 12, "aa"},
    {"LinearAttention", 27, "aaa.aa"},
    {"MatMul", 1, "aa"},
    {"MatMulInteger", 10, "abab"},
    {"Max", 1, "a+"},
    {"MaxRoiPool", 1, "aa"},
    {"MaxUnpool", 9, ".aa"},
    {"Mean", 1, "a+"},
    {"MelWeightMatrix", 17, "aaabb"},
    {"Min", 1, "a+"},
    {"Mod", 10, "aa"},
    {"Mul", 1, "aa"},
    {"NegativeLogLikelihoodLoss", 12, "a.a"},
    {"Or", 1, "aa"},
    {"PRelu", 1, "aa"},
    {"Pad", 11, "a.a"},
    {"Pow", 1, "aa"},
    {"Pow", 12, ""},
    {"QLinearConv", 10, "a.ab.b"},
    {"QLinearMatMul", 10, "a.ab.b"},
    {"QLinearMatMul", 21, "abacbcb"},
    {"QuantizeLinear", 19, "aa"},
    {"QuantizeLinear", 23, ""},
    {"RNN", 1, "aaaa.a"},
    {"Range", 11, "aaa"},
    {"RoiAlign", 10, "aa"},
    {"RotaryEmbedding", 23, "aaa"},
    {"STFT", 17, "abab"},
    {"Scatter", 9, "a.a"},
    {"ScatterElements", 11, "a.a"},
    {"ScatterND", 11, "a.a"},
    {"SequenceConstruct", 11, "a+"},
    {"Slice", 10, ".aaaa"},
    {"SoftmaxCrossEntropyLoss", 12, "a.a"},
    {"Split", 1, "aa"},
    {"Split", 2, ""},
    {"StringConcat", 20, "aa"},
    {"Sub", 1, "aa"},
    {"Sum", 1, "a+"},
    {"SwiGLU", 28, "aa"},
    {"TensorScatter", 24, "aa"},
    {"Tile", 1, "aaa"},
    {"Tile", 6, ""},
    {"Where", 9, ".aa"},
    {"Xor", 1, "aa"},
};
// clang-format on

}  // namespace

const std::span<const StandardForm> kOperandForms = operand_forms;

}  // namespace tenfold::onnx_import
