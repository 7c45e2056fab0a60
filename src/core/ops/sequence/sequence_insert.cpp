// SequenceInsert: a sequence with one more element, in front of a place or at the end.
#include "ops/sequence/sequence_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { call.out(0, ops::with_element(call, ops::sequence_type(call, 0), call.type(1))); }

void on_values(ValueCall& call) {
  std::vector<RuntimeValue> all = call.elements(0);
  const std::size_t at = ops::place_in(call, 2, all.size() + (call.has(2) && call.integer(2) >= 0 ? 1 : 0), all.size());
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(at), call.in(1));
  call.give(0, RuntimeValue::sequence(std::move(all)));
}

}  // namespace

OpDef op_sequence_insert() {
  return {.name = "SequenceInsert",
          .min_inputs = 2,
          .max_inputs = 3,
          .types = "*, *, i32|i64 -> *",
          .infer = infer,
          .on_host = "a GPU has no sequences",
          .on_values = on_values};
}

}  // namespace tenfold::ir
