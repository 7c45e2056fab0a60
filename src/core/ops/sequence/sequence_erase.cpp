// SequenceErase: a sequence without one of its elements, by default the last.
#include "ops/sequence/sequence_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { call.out(0, ops::sequence_type(call, 0)); }

void on_values(ValueCall& call) {
  std::vector<RuntimeValue> all = call.elements(0);
  call.check_shape(!all.empty(), "it takes an element from an empty sequence");
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(ops::place_in(call, 1, all.size(), all.size() - 1)));
  call.give(0, RuntimeValue::sequence(std::move(all)));
}

}  // namespace

OpDef op_sequence_erase() {
  return {.name = "SequenceErase",
          .min_inputs = 1,
          .max_inputs = 2,
          .types = "*, i32|i64 -> *",
          .infer = infer,
          .on_host = "a GPU has no sequences",
          .on_values = on_values};
}

}  // namespace tenfold::ir
