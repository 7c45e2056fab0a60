// Fail: stands for a branch that cannot run with the shapes that are known. Types its results as the other branch does, and says
// why if it is taken.
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Strings types = call.attributes().strings("types");
  for (int i = 0; i < call.outputs(); ++i)
    call.out(i, static_cast<std::size_t>(i) < types.size() ? parse_type(types[static_cast<std::size_t>(i)]) : ValueType{});
}

void reference(Call& call) { supported(false, call.attributes().string("message", "")); }

}  // namespace

OpDef op_fail() {
  return {.name = "Fail",
          .min_inputs = 0,
          .max_inputs = 0,
          .min_outputs = 0,
          .max_outputs = -1,
          .types = "-> *...",
          .attributes = {{"message", ""}, {"types", Strings{}}},
          .infer = infer,
          .reference = reference,
          .pure = false,
          .returns = false};
}

}  // namespace tenfold::ir
