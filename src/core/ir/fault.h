// The three ways in which an operator refuses a node. Which one it is follows from one question: what would make the node right?
//
// check_shape: other shapes, or other contents of what is computed from shapes. "axis 2 of 2 dimensions", "8 channels do not divide into 3
//   groups". A branch of an If that contradicts the shapes is put off until it is taken (ops/control/if.cpp).
// validate: nothing. An attribute, an element type, a word, the number of operands is wrong: "mode is 'linaer'". It is a Fault, which is
//   refused like any other part of a model wherever it stands.
// supported: nothing in the model, for ONNX allows it and Tenfold does not compute it: "more than three spatial dims". So is what only
//   data tells, where a build has to know it.
//
// Whoever has a call of the node (ir/op_def.h) refuses through it: InferCall has all three. Call and ValueCall, which kernels are given,
// have `check_shape` and `supported` for what only the values of a run show: "repeat -1 is negative". Other inputs of the run would mend
// that, so it is an invalid_argument and names the node. `check_index` is the `check_shape` of indices. Functions
// without a call use the ones here. tools/check_style.py wants it so.
//
// In a run, what refuses a node of a finished plan are the values given: runtime/step_fault.h makes Status::invalid_input of all three.
#pragma once

#include "base/check.h"

namespace tenfold::ir {

class Fault : public Error {
 public:
  explicit Fault(const Error& error) : Error(error) {}
};

// An index in the data that lies outside a tensor.
class IndexFault : public Error {
 public:
  explicit IndexFault(const Error& error) : Error(error) {}
};

template <class... Args>
void check_shape(bool condition, const Args&... args) {
  require(condition, ErrorKind::invalid_model, args...);
}
template <class... Args>
void check_index(bool condition, const Args&... args) {
  if (!condition) [[unlikely]] throw IndexFault(Error(ErrorKind::invalid_model, cat(args...)));
}
template <class... Args>
void validate(bool condition, const Args&... args) {
  if (!condition) [[unlikely]] throw Fault(Error(ErrorKind::invalid_model, cat(args...)));
}
template <class... Args>
void supported(bool condition, const Args&... args) {
  require(condition, ErrorKind::unsupported, args...);
}

}  // namespace tenfold::ir
