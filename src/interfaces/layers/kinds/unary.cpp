// IUnaryLayer.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  static constexpr const char* kOps[] = {"Exp",   "Log",  "Sqrt", "Reciprocal", "Abs",   "Neg",   "Sin",   "Cos",   "Tan",
                                         "Sinh",  "Cosh", "Asin", "Acos",       "Atan",  "Asinh", "Acosh", "Atanh", "Ceil",
                                         "Floor", "Erf",  "Not",  "Sign",       "Round", "IsInf", "IsNaN"};
  return {call.node(
      kOps[call.choice("op", {"EXP",  "LOG",   "SQRT",  "RECIP", "ABS",  "NEG",   "SIN", "COS", "TAN",  "SINH",  "COSH",  "ASIN", "ACOS",
                              "ATAN", "ASINH", "ACOSH", "ATANH", "CEIL", "FLOOR", "ERF", "NOT", "SIGN", "ROUND", "ISINF", "ISNAN"})],
      {call.in(0)})};
}

}  // namespace

LayerKind layer_unary() {
  return {.name = "unary", .min_inputs = 1, .max_inputs = 1, .options = {{"op", std::string("EXP")}}, .make = make};
}

}  // namespace tenfold::layers
