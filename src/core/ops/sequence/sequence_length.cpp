// SequenceLength: the number of elements.
#include "ops/sequence/sequence_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  ops::sequence_type(call, 0);
  call.out(0, DType::i64, {});
}

void on_values(ValueCall& call) {
  Tensor length(DType::i64, {});
  *length.mutable_data<std::int64_t>() = static_cast<std::int64_t>(call.elements(0).size());
  call.give(0, length);
}

}  // namespace

OpDef op_sequence_length() {
  return {.name = "SequenceLength",
          .types = "* -> i64",
          .infer = infer,
          .on_host = "a GPU has no sequences",
          .on_values = on_values};
}

}  // namespace tenfold::ir
