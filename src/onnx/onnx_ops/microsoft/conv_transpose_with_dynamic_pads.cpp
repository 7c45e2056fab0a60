// ConvTransposeWithDynamicPads: ConvTranspose whose pads are an operand. Where they are data, the whole result is computed and cut.
//
// Operands: X, W, pads (begins, then ends; may be left out), bias.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  Attributes attributes = call.attributes;
  std::vector<Value*> operands{call.given(0), call.given(1)};
  Value *pads = call.in(2), *bias = call.in(3);
  const std::int64_t spatial = known_rank(call, 0) - 2;
  if (pads) {
    const std::string mode = attributes.string("auto_pad", "NOTSET");
    validate(mode == "NOTSET", "there are pads (input 2), and auto_pad is '", mode, "', NOTSET expected");
    validate(pads->dtype() == DType::i64, "the pads (input 2) are ", name(pads->dtype()), ", i64 expected");
    check_shape(!pads->type.ranked || (pads->rank() == 1 && (!pads->dims()[0].is_constant() || pads->dims()[0] == Dim(2 * spatial))),
                "the pads (input 2) have shape [", text(pads->dims()), "], [", 2 * spatial, "] expected");
  }
  if (pads && pads->is_constant()) {
    const Tensor& values = pads->constant->tensor;
    attributes.set("pads", Ints(values.data<std::int64_t>(), values.data<std::int64_t>() + values.size()));
  }
  if (!pads || pads->is_constant()) {
    if (bias) operands.push_back(bias);
    return {one(call, "ConvTranspose", operands, attributes)};
  }
  Ints axes;
  for (std::int64_t d = 0; d < spatial; ++d) axes.push_back(2 + d);
  Value* cut = one(call, "Pad", {one(call, "ConvTranspose", operands, attributes), one(call, "Neg", {pads}), nullptr, call.ints(axes)});
  if (!bias) return {cut};
  for (std::int64_t& axis : axes) --axis;
  return {one(call, "Add", {cut, unsqueezed(call, bias, axes)})};   // behind: a pad below 0 adds zeros, which have the bias, too
}

}  // namespace

OnnxOp onnx_microsoft_conv_transpose_with_dynamic_pads() { return {.name = "ConvTransposeWithDynamicPads", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
