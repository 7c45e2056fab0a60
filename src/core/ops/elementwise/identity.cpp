// Identity: its operand, of any kind, under another name.
#include <cstring>

#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, call.type(0));
  if (const Dims* contents = call.contents(0)) call.out_contents(0, *contents);
}

void reference(Call& call) {
  if (call.in[0].dtype == DType::string) {
    std::copy_n(call.in[0].as<std::string>(), call.in[0].size(), call.out[0].as<std::string>());
  } else if (call.in[0].size() > 0) {
    std::memcpy(call.out[0].data, call.in[0].data, static_cast<std::size_t>(byte_size(call.in[0].dtype, call.in[0].size())));
  }
}

void on_values(ValueCall& call) { call.give(0, call.in(0)); }

}  // namespace

OpDef op_identity() {
  return {.name = "Identity",
          .types = "* -> *",
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::identity, .narrows = true},
          .onnx_since = 1,
          .cases = {"f32[2,3,5]", "i64[]", "f16[0,4]", "bool[7]", "u4[5]", "bf16[3]"},
          .tolerance = 0,
          .on_values = on_values};
}

}  // namespace tenfold::ir
