// StringConcat: each string of the first operand, with that of the second behind it.
#include "ops/text/text_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) { ops::infer_broadcast_strings(call, DType::string); }

void on_values(ValueCall& call) {
  const std::vector<std::string> &a = call.strings(0), &b = call.strings(1);
  const ops::BroadcastPair pair = ops::broadcast_pair(call);
  std::vector<std::string> joined;
  for (const auto& [i, j] : pair.places) joined.push_back(a[static_cast<std::size_t>(i)] + b[static_cast<std::size_t>(j)]);
  call.give(0, Tensor::strings(pair.shape, std::move(joined)));
}

}  // namespace

OpDef op_string_concat() {
  return {.name = "StringConcat",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "string, string -> string",
          .infer = infer,
          .onnx_since = 20,
          .on_host = "a GPU has no strings",
          .on_values = on_values};
}

}  // namespace tenfold::ir
