// IsInf: true where an element is infinite; the attributes choose the signs that count.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::floats);
  const bool negative = node.attributes.integer("detect_negative") != 0, positive = node.attributes.integer("detect_positive") != 0;
  BodyBuilder b = body_builder(node);
  const std::uint16_t infinite = b.unary(Prim::is_inf, 0);
  if (negative && positive) return b.finish({infinite});
  const std::uint16_t zero = b.constant(b.type_of(0), 0);
  const std::uint16_t never = b.constant(DType::boolean, 0);
  const std::uint16_t requested = positive ? b.binary(Prim::gt, 0, zero) : negative ? b.binary(Prim::lt, 0, zero) : never;
  return b.finish({b.binary(Prim::logical_and, infinite, requested)});
}

}  // namespace

OpDef op_is_inf() {
  return pointwise({.name = "IsInf",
                    .types = "float -> bool",
                    .attributes = {{"detect_negative", 1}, {"detect_positive", 1}},
                    .scalar = scalar,
                    .onnx_since = 10,
                    .cases = {"f32[4]{1,inf,-inf,nan}", "f32[4]{1,inf,-inf,nan} detect_negative=0",
                              "f32[4]{1,inf,-inf,nan} detect_positive=0", "f64[2,3]", "f32[]", "f16[0,4]"}});
}

}  // namespace tenfold::ir
