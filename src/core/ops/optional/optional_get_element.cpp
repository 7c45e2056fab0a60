// OptionalGetElement: what an optional holds; what is no optional is given as it is.
#include "ops/sequence/sequence_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const ValueType& type = call.type(0);
  call.out(0, type.kind == ValueType::Kind::optional ? ops::one_element(call, type, "held") : type);
}

void on_values(ValueCall& call) {
  call.check_shape(call.has(0), "its operand holds nothing; OptionalHasElement tells whether it does");
  call.give(0, call.in(0));
}

}  // namespace

OpDef op_optional_get_element() {
  return {.name = "OptionalGetElement",
          .types = "* -> *",
          .infer = infer,
          .onnx_since = 15,
          .on_host = "a GPU has no optionals",
          .on_values = on_values};
}

}  // namespace tenfold::ir
