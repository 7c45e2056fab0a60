// Windows as sums of cosines over a number of samples, which is the operand.
#include "onnx_ops/ai_onnx/window_common.h"

#include <cmath>

#include "onnx_ops/convert_common.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {

std::vector<Value*> window(OnnxImport& call, const std::vector<double>& coefficients) {
  const DType type = ops::dtype_from_onnx(call.attributes.integer("output_datatype", 1));
  Value* size = one(call, "Cast", {call.given(0)}, {{"to", "i64"}});
  Value* period = call.attributes.integer("periodic", 1) != 0 ? size : one(call, "Sub", {size, call.scalar(DType::i64, 1)});
  const Attributes real{{"to", "f64"}};
  Value* n = one(call, "Cast", {one(call, "Range", {call.scalar(DType::i64, 0), size, call.scalar(DType::i64, 1)})}, real);
  Value* turns = one(call, "Div", {n, one(call, "Cast", {period}, real)});
  Value* sum = call.scalar(DType::f64, coefficients[0]);
  for (std::size_t i = 1; i < coefficients.size(); ++i) {
    Value* wave = one(call, "Cos", {one(call, "Mul", {turns, call.scalar(DType::f64, 2 * M_PI * static_cast<double>(i))})});
    sum = one(call, "Add", {sum, one(call, "Mul", {wave, call.scalar(DType::f64, (i % 2 ? -1 : 1) * coefficients[i])})});
  }
  return {one(call, "Cast", {sum}, {{"to", std::string(name(type))}})};
}

}  // namespace tenfold::onnx_ops
