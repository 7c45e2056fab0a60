// Cast: the type is a number in ONNX; 8-bit floats without saturation, and scales, are CastF8.
#include "onnx_ops/ai_onnx/cast_common.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_6(OnnxImport& node) { return add_cast(node, ops::dtype_from_onnx(node.attributes.integer("to"))); }

// The type by its name in TensorProto.
std::vector<Value*> from_1(OnnxImport& node) {
  static constexpr std::pair<const char*, DType> types[] = {
      {"FLOAT", DType::f32}, {"UINT8", DType::u8},        {"INT8", DType::i8},    {"UINT16", DType::u16}, {"INT16", DType::i16},
      {"INT32", DType::i32}, {"INT64", DType::i64},       {"BOOL", DType::boolean}, {"FLOAT16", DType::f16}, {"DOUBLE", DType::f64},
      {"UINT32", DType::u32}, {"UINT64", DType::u64}};
  std::string to = node.attributes.string("to");
  for (char& c : to) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  for (const auto& [name, type] : types)
    if (to == name) return add_cast(node, type);
  validate(false, "to is '", to, "', which is no type that Cast of opset 1 makes");
  return {};
}

}  // namespace

OnnxOp onnx_ai_onnx_cast() { return {.name = "Cast", .forms = {{6, from_6}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
