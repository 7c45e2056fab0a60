// Imputer: elements that equal one value are replaced, by one other or by that of their column.
#include <algorithm>
#include <cmath>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {
namespace {

Value* as_type(OnnxImport& call, Value* value, DType type) { return one(call, "Cast", {value}, {{"to", std::string(name(type))}}); }

std::vector<Value*> from_1(OnnxImport& call) {
  Value* x = call.given(0);
  const Attributes& a = call.attributes;
  const char *list = is_float(x->dtype()) ? "imputed_value_floats" : "imputed_value_int64s",
             *old = is_float(x->dtype()) ? "replaced_value_float" : "replaced_value_int64";
  validate(a.has(list), "attribute '", list, "' is missing, for elements of ", name(x->dtype()));
  if (!is_float(x->dtype())) {
    Value* is_old = one(call, "Equal", {x, as_type(call, reshaped(call, call.ints({a.integer(old, 0)}), {}), x->dtype())});
    return call.add("Where", {is_old, as_type(call, call.ints(a.ints(list)), x->dtype()), x}, {});
  }
  const float gone = a.number(old, 0.0f);
  const Floats& values = a.floats(list);
  Value* is_old = std::isnan(gone) ? one(call, "IsNaN", {x}) : one(call, "Equal", {x, call.scalar(x->dtype(), static_cast<double>(gone))});
  Value* put = filled(call, x->dtype(), {static_cast<std::int64_t>(values.size())}, [&](auto* to) {
    std::copy(values.begin(), values.end(), to);
  });
  return call.add("Where", {is_old, put, x}, {});
}

}  // namespace

OnnxOp onnx_ml_imputer() { return {.name = "Imputer", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
