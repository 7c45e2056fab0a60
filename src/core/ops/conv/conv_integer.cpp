// ConvInteger: convolution of 8-bit tensors less their zero points, in 32 bits. Pads count as the input's zero point.
#include "ops/conv/conv_common.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { call.out(0, DType::i32, ops::infer_convolution(call)); }

std::vector<std::int32_t> centered(const Call& call, int operand, int zero) {
  std::vector<std::int32_t> values = ops::converted<std::int32_t>(call.in[static_cast<std::size_t>(operand)]);
  if (!call.has(zero)) return values;
  const std::vector<std::int32_t> zeros = ops::converted<std::int32_t>(call.in[static_cast<std::size_t>(zero)]);
  const std::int64_t channels = static_cast<std::int64_t>(zeros.size()), size = static_cast<std::int64_t>(values.size());
  call.check_shape(channels == 1 || (operand == 1 && channels == call.in[1].shape[0]), "a zero point has ", channels, " values, expected 1",
            operand == 1 ? " or one per output channel" : "");
  for (std::int64_t i = 0; i < size; ++i) values[static_cast<std::size_t>(i)] -= zeros[static_cast<std::size_t>(i / (size / channels))];
  return values;
}

void reference(Call& call) {
  const Shape &input = call.in[0].shape, &weight = call.in[1].shape;
  const Ints kernel(weight.begin() + 2, weight.end());
  const ops::Window window = ops::window_of(call.attributes(), ops::spatial_dims(input), kernel);
  const ops::Geometry g(input, call.out[0].shape, window);
  const std::vector<std::int32_t> x = centered(call, 0, 2), w = centered(call, 1, 3);
  auto* y = call.out[0].as<std::int32_t>();
  ops::convolve<std::int64_t>(g, input, weight, call.attributes().integer("group"), x.data(), w.data(),
                              [&](std::int64_t i, std::int64_t, std::int64_t sum) { y[i] = static_cast<std::int32_t>(sum); });
}

}  // namespace

OpDef op_conv_integer() {
  return {.name = "ConvInteger",
          .min_inputs = 2,
          .max_inputs = 4,
          .types = "X, W, X, W -> i32; X: i8|u8; W: i8|u8",
          .attributes = {{"auto_pad", "NOTSET"}, {"group", 1}},
          .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints",
          .infer = infer,
          .reference = reference,
          .traits = {.gemm_kind = GemmKind::convolution, .anchor = true, .accumulates = true},
          .onnx_since = 10,
          .cases = {"u8[1,3,9,7] i8[4,3,3,3] u8[]{5} pads=[1,1,1,1]", "u8[2,4,8,8] u8[6,2,3,3] u8[]{3} u8[]{7} group=2 strides=[2,2]",
                    "u8[1,2,10] i8[3,2,3]! u8[]{1} i8[3]{1,2,-3}"},
          .tolerance = 0};
}

}  // namespace tenfold::ir
