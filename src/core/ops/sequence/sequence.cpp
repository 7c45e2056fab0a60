// Sequence: its operands, in a list. `dtype` tells what one without operands would hold.
//
// Import follows sequences to where they are made, so that models which only take them apart again hold none; a node is left where a
// loop carries a sequence, a branch reads one, or data decide a place in it.
#include "ops/sequence/sequence_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const auto dtype = dtype_from_name(call.attributes().string("dtype"));
  call.validate(dtype.has_value(), "dtype '", call.attributes().string("dtype"), "' is no element type");
  ValueType type{.tensor = {*dtype, {}}, .ranked = false, .unfilled = true};
  for (int i = 0; i < call.inputs(); ++i) type = i == 0 ? call.type(0) : ops::with_element(call, sequence_of(type), call.type(i)).element();
  call.out(0, sequence_of(type));
}

void on_values(ValueCall& call) {
  std::vector<RuntimeValue> elements;
  for (int i = 0; i < call.inputs(); ++i) elements.push_back(call.in(i));
  call.give(0, RuntimeValue::sequence(std::move(elements)));
}

}  // namespace

OpDef op_sequence() {
  return {.name = "Sequence",
          .min_inputs = 0,
          .max_inputs = -1,
          .types = "*... -> *",
          .attributes = {{"dtype", "f32"}},
          .infer = infer,
          .on_host = "a GPU has no sequences",
          .on_values = on_values};
}

}  // namespace tenfold::ir
