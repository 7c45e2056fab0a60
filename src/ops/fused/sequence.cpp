// Sequence (internal, of import alone): tensors in a list. Models build sequences to take them apart again: import follows them, so that
// no graph holds one. A sequence that a loop carries or a branch reads, or an index that the data decide, cannot be followed and is
// refused.
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  ValueType type{.kind = ValueType::Kind::sequence};
  if (call.has(0)) type.tensor = call.in(0);
  call.out(0, type);
}

void reference(Call& call) { fail(ErrorKind::unsupported, cat("'", call.node->name, "' makes a sequence: plans hold tensors only")); }

}  // namespace

OpDef op_sequence() {
  return {.name = "Sequence",
          .min_inputs = 0,
          .max_inputs = -1,
          .types = "any... -> *",
          .infer = infer,
          .reference = reference};
}

}  // namespace tenfold::ir
