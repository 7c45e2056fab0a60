// Cast: elements as another type, named by `to` ("f16"). Floats become integers by truncation, 8-bit floats saturate.
#include "base/types/half_convert.h"
#include "ops/elementwise/cast_common.h"
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

Body scalar(const Node& node) {
  operand_type(node, Operands::any);
  BodyBuilder b = body_builder(node);
  return b.finish({b.cast(0, cast_target(node.attributes))});
}

// Reading and narrowing a model's weights is this and nothing else.
void reference(Call& call) {
  const TensorRef &x = call.in[0], &y = call.out[0];
  const auto count = static_cast<std::size_t>(x.size());
  const bool to_half = y.dtype == DType::f16, from_half = x.dtype == DType::f16;
  if (call.node->body) {
    reference_pointwise(call);
  } else if (x.dtype == DType::f32 && (to_half || y.dtype == DType::bf16)) {
    (to_half ? floats_to_fp16 : floats_to_bf16)(x.as<float>(), y.as<std::uint16_t>(), count);
  } else if (y.dtype == DType::f32 && (from_half || x.dtype == DType::bf16)) {
    (from_half ? fp16_to_floats : bf16_to_floats)(x.as<std::uint16_t>(), y.as<float>(), count);
  } else {
    reference_pointwise(call);
  }
}

}  // namespace

DType cast_target(const Attributes& attributes) {
  const std::string& to = attributes.string("to");
  const std::optional<DType> type = dtype_from_name(to);
  validate(type.has_value(), "Cast to unknown type '", to, "'");
  supported(*type != DType::string, "Cast to strings is not supported");
  return *type;
}

OpDef op_cast() {
  OpDef def = pointwise({.name = "Cast",
                    .types = "dense -> dense",
                    .optional_attributes = "to: string",
                    .scalar = scalar,
                    .cases = {"f32[2,3,5] to=\"f16\"", "f16[7] to=\"f32\"", "f32[4](-300,300) to=\"i8\"", "i64[3,4] to=\"f32\"",
                              "f32[] to=\"i64\"", "bool[5] to=\"f32\"", "f32[0,4] to=\"f64\"", "f32[4]{0,0.5,nan,-2} to=\"bool\"",
                              "f32[9](-600,600) to=\"f8e4m3fn\"", "u4[5] to=\"f32\"", "i32[5] to=\"i4\"", "f32[5] to=\"bf16\"",
                              "f32[2,3,5,7](-4,4) to=\"bf16\"", "f32[1,3,70](-4,4) to=\"bf16\""}});
  def.reference = reference;
  return def;
}

}  // namespace tenfold::ir
