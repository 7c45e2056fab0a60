// SequenceAt: one element of a sequence, at a place that data decide.
#include "ops/sequence/sequence_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { call.out(0, ops::one_element(call, ops::sequence_type(call, 0), "at")); }

void on_values(ValueCall& call) {
  const std::vector<RuntimeValue>& all = call.elements(0);
  call.give(0, all[ops::place_in(call, 1, all.size(), 0)]);
}

}  // namespace

OpDef op_sequence_at() {
  return {.name = "SequenceAt",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "*, i32|i64 -> *",
          .infer = infer,
          .on_host = "a GPU has no sequences",
          .on_values = on_values};
}

}  // namespace tenfold::ir
