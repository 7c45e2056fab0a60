// Bytes of a constant as the integers that lie in them.
#include "onnx_ops/microsoft/unpacked_common.h"

namespace tenfold::onnx_ops {

Value* unpacked(OnnxImport& call, int i, std::int64_t bits) {
  Value* value = call.given(i);
  if (value->dtype() != DType::u8 || bits == 8) return value;
  const DType type = bits == 4 ? DType::u4 : DType::u2;
  const Tensor& bytes = call.constant(i, "a table whose bytes hold several numbers");
  Shape shape = bytes.shape();
  check_shape(!shape.empty(), "the table has no dims");
  shape.back() *= 8 / bits;
  return call.graph().add_constant(Tensor(type, shape, std::make_shared<Tensor>(bytes), bytes.raw()));
}

}  // namespace tenfold::onnx_ops
