// Optional: its operand as an optional, or one that holds nothing, of the type in words.
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  if (call.has(0)) return call.out(0, optional_of(call.type(0)));
  call.validate(call.attributes().has("type"), "an Optional without an operand needs the attribute 'type'");
  const ValueType type = parse_type(call.attributes().string("type"));
  call.out(0, optional_of(type));
}

void on_values(ValueCall& call) { call.give(0, call.has(0) ? call.in(0) : RuntimeValue()); }

}  // namespace

OpDef op_optional() {
  return {.name = "Optional",
          .min_inputs = 0,
          .max_inputs = 1,
          .types = "* -> *",
          .optional_attributes = "type: string",
          .infer = infer,
          .onnx_since = 15,
          .on_host = "a GPU has no optionals",
          .on_values = on_values};
}

}  // namespace tenfold::ir
