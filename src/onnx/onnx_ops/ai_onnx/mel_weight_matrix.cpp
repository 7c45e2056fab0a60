// MelWeightMatrix: triangles over the bins of a spectrum, equally wide on the mel scale.
//
// Operands: number of triangles, length of the transform, samples a second, lowest and highest frequency. Result: [bins, triangles].
#include <cmath>

#include "onnx_ops/ai_onnx/fourier_run_common.h"
#include "onnx_ops/convert_common.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {
namespace {

class MelMatrix {
 public:
  explicit MelMatrix(OnnxImport& call) : call_(call) {}
  Value* made() {
    Value *triangles = single(call_, call_.given(0)), *length = single(call_, call_.given(1));
    Value* edges = edge_bins(one(call_, "Add", {triangles, call_.ints({2})}), length);   // [triangles + 2]
    Value* bins = one(call_, "Add", {one(call_, "Div", {length, call_.ints({2})}), call_.ints({1})});
    Value* bin = in_f64(unsqueezed(call_, counted(call_, bins), {1}));
    const auto edge = [&](std::int64_t i) {   // the left, middle and right ones of all triangles
      return one(call_, "Slice", {edges, call_.ints({i}), one(call_, "Add", {triangles, call_.ints({i})}), call_.ints({0})});
    };
    Value *left = edge(0), *middle = edge(1), *right = edge(2);
    Value* rising = one(call_, "And", {one(call_, "GreaterOrEqual", {bin, left}), one(call_, "LessOrEqual", {bin, middle})});
    Value* falling = one(call_, "And", {one(call_, "GreaterOrEqual", {bin, middle}), one(call_, "Less", {bin, right})});
    Value* y = one(call_, "Where", {rising, slope(bin, left, middle), number(0)});
    return one(call_, "Where", {falling, slope(right, bin, right, middle), y});
  }

 private:
  Value* number(double value) { return call_.scalar(DType::f64, value); }
  Value* in_f64(Value* value) { return one(call_, "Cast", {value}, {{"to", "f64"}}); }
  Value* times(Value* value, double factor) { return one(call_, "Mul", {value, number(factor)}); }
  Value* mel(int operand) {   // of a frequency: 2595 * log10(1 + f / 700)
    Value* f = one(call_, "Add", {times(in_f64(reshaped(call_, call_.given(operand), {1})), 1.0 / 700), number(1)});
    return times(one(call_, "Log", {f}), 2595 / M_LN10);
  }
  // Bins of the edges, which lie at equal distances on the mel scale.
  Value* edge_bins(Value* count, Value* length) {
    Value *low = mel(3), *step = one(call_, "Div", {one(call_, "Sub", {mel(4), low}), in_f64(count)});
    Value* at = one(call_, "Add", {one(call_, "Mul", {in_f64(counted(call_, count)), step}), low});
    Value* frequency = times(one(call_, "Sub", {one(call_, "Exp", {times(at, M_LN10 / 2595)}), number(1)}), 700);
    Value* scaled = one(call_, "Mul", {frequency, one(call_, "Add", {in_f64(length), number(1)})});
    return one(call_, "Floor", {one(call_, "Div", {scaled, in_f64(single(call_, call_.given(2)))})});
  }
  // (a - b) / (c - d); 1 where that is 0 / 0.
  Value* slope(Value* a, Value* b, Value* c) { return slope(a, b, c, b); }
  Value* slope(Value* a, Value* b, Value* c, Value* d) {
    Value* width = one(call_, "Sub", {c, d});
    Value* none = one(call_, "Equal", {width, number(0)});
    return one(call_, "Where", {none, number(1), one(call_, "Div", {one(call_, "Sub", {a, b}), width})});
  }

  OnnxImport& call_;
};

std::vector<Value*> from_17(OnnxImport& call) {
  const DType type = ops::dtype_from_onnx(call.attributes.integer("output_datatype", 1));
  return {one(call, "Cast", {MelMatrix(call).made()}, {{"to", std::string(name(type))}})};
}

}  // namespace

OnnxOp onnx_ai_onnx_mel_weight_matrix() { return {.name = "MelWeightMatrix", .forms = {{17, from_17}}}; }

}  // namespace tenfold::onnx_ops
