// StringEqual: Equal of strings, byte by byte.
#include "ops/text/text_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { ops::infer_broadcast_strings(call, DType::boolean); }

void on_values(ValueCall& call) {
  const std::vector<std::string> &a = call.strings(0), &b = call.strings(1);
  const ops::BroadcastPair pair = ops::broadcast_pair(call);
  Tensor y(DType::boolean, pair.shape);
  bool* to = y.mutable_data<bool>();
  for (const auto& [i, j] : pair.places) *to++ = a[static_cast<std::size_t>(i)] == b[static_cast<std::size_t>(j)];
  call.give(0, y);
}

}  // namespace

OpDef op_string_equal() {
  return {.name = "StringEqual",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "string, string -> bool",
          .infer = infer,
          .on_host = "a GPU has no strings",
          .on_values = on_values};
}

}  // namespace tenfold::ir
