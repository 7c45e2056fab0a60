// What the optimizers of ai.onnx.preview.training share: operands R, T, then for n tensors all X, all gradients, all of each state.
#pragma once

#include <cstddef>

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

class Optimizer {
 public:
  // `states`: how many each tensor has.
  Optimizer(OnnxImport& call, std::size_t states);
  std::size_t tensors() const { return tensors_; }
  Value* rate() const { return call_.inputs[0]; }
  Value* operand(std::size_t group, std::size_t tensor) const { return call_.inputs[2 + group * tensors_ + tensor]; }   // group 0: X
  Value* attribute(const char* name, float otherwise) { return number(call_.attributes.number(name, otherwise)); }
  Value* number(double value) { return call_.scalar(rate()->dtype(), value); }
  Value* updates() { return one(call_, "Cast", {call_.inputs[1]}, {{"to", std::string(name(rate()->dtype()))}}); }   // T, as R's type
  Value* first() { return one(call_, "Equal", {call_.inputs[1], call_.scalar(call_.inputs[1]->dtype(), 0)}); }       // T is 0
  Value* add(Value* a, Value* b) { return one(call_, "Add", {a, b}); }
  Value* sub(Value* a, Value* b) { return one(call_, "Sub", {a, b}); }
  Value* mul(Value* a, Value* b) { return one(call_, "Mul", {a, b}); }
  Value* div(Value* a, Value* b) { return one(call_, "Div", {a, b}); }
  Value* sqrt(Value* a) { return one(call_, "Sqrt", {a}); }
  Value* regularized_gradient(std::size_t tensor) {   // norm_coefficient * X + G
    return add(mul(attribute("norm_coefficient", 0), operand(0, tensor)), operand(1, tensor));
  }
  // The results: all new X, then all of each new state.
  void set(std::size_t group, std::size_t tensor, Value* value) { results_[group * tensors_ + tensor] = value; }
  std::vector<Value*> results() const { return results_; }

 private:
  OnnxImport& call_;
  std::size_t tensors_;
  std::vector<Value*> results_;
};

}  // namespace tenfold::onnx_ops
