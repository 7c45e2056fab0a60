// OptionalHasElement: whether an optional holds something; what is no optional does, what is left out does not.
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, DType::boolean, {});
  if (!call.has(0)) call.out_contents(0, {Dim(0)});
  else if (call.type(0).kind != ValueType::Kind::optional) call.out_contents(0, {Dim(1)});
}

void on_values(ValueCall& call) {
  Tensor answer(DType::boolean, {});
  *answer.mutable_data<bool>() = call.has(0);
  call.give(0, answer);
}

}  // namespace

OpDef op_optional_has_element() {
  return {.name = "OptionalHasElement",
          .min_inputs = 0,
          .max_inputs = 1,
          .types = "* -> bool",
          .infer = infer,
          .onnx_since = 15,
          .on_host = "a GPU has no optionals",
          .on_values = on_values};
}

}  // namespace tenfold::ir
