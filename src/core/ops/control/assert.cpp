// Assert: all elements of its operand are true, or the run ends with a message. Its result, a copy of the operand, need not be used.
#include <algorithm>

#include "ir/fault.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, DType::boolean, call.dims(0));
}

void reference(Call& call) {
  const auto* held = call.in[0].as<std::uint8_t>();
  const std::int64_t count = call.in[0].size();
  call.supported(std::find(held, held + count, std::uint8_t{0}) == held + count,
                 "the assertion does not hold: ", call.attributes().string("message"));
  if (!call.out.empty() && call.out[0].data) std::copy_n(held, count, call.out[0].as<std::uint8_t>());
}

}  // namespace

OpDef op_assert() {
  return {.name = "Assert",
          .types = "bool -> bool",
          .attributes = {{"message", ""}},
          .infer = infer,
          .reference = reference,
          .pure = false,
          .returns = false,
          .onnx_since = 1,
          .onnx_domain = "ai.tenfold"};
}

}  // namespace tenfold::ir
