// IsAllFinite: whether no element of any operand is NaN or infinite.
#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  const bool nan_alone = call.attributes.integer("isnan_only", 0) != 0, inf_alone = call.attributes.integer("isinf_only", 0) != 0;
  validate(!nan_alone || !inf_alone, "isnan_only and isinf_only at once");
  Value* found = nullptr;
  const auto join = [&](Value* more) { found = found ? one(call, "Or", {found, more}) : more; };
  for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i)
    for (const char* op : {"IsNaN", "IsInf"}) {
      if ((nan_alone && op[2] == 'I') || (inf_alone && op[2] == 'N')) continue;
      Value* flags = one(call, "Cast", {one(call, op, {call.given(i)})}, {{"to", "i32"}});
      Value* any = one(call, "ReduceMax", {reshaped(call, flags, {-1})}, {{"keepdims", 0}});
      join(one(call, "Greater", {any, call.scalar(DType::i32, 0)}));
    }
  validate(found != nullptr, "IsAllFinite has no inputs");
  return {one(call, "Not", {found})};
}

}  // namespace

OnnxOp onnx_microsoft_is_all_finite() { return {.name = "IsAllFinite", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
