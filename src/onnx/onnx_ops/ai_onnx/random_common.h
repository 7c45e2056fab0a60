// What the operators that draw random numbers share.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// Numbers of one distribution in the shape that `shape` holds: normal with mean `a` and deviation `b`, or uniform from `a` to `b`.
Value* random_numbers(OnnxImport& call, Value* shape, DType type, const char* distribution, float a, float b);
// The type that the attribute `dtype` names, else `otherwise`.
DType requested_type(const OnnxImport& call, DType otherwise);
// Shape and type: of attributes, or of operand 0.
struct Drawn {
  Value* shape;
  DType type;
};
Drawn drawn_by_attributes(OnnxImport& call);
Drawn drawn_like_operand(OnnxImport& call);

std::vector<Value*> normal(OnnxImport& call, const Drawn& drawn);
std::vector<Value*> uniform(OnnxImport& call, const Drawn& drawn);

// Uniform f64 in [0, 1), the same in each run where attribute `seed`, an integer, is there: those that NumPy's RandomState(seed) draws.
Value* uniform_of_seed(OnnxImport& call, Value* shape);

}  // namespace tenfold::onnx_ops
