// Size: the number of elements of a tensor, as a scalar.
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, DType::i64, {});
  call.out_contents(0, {product(call.dims(0))});
}

void reference(Call& call) { *call.out[0].as<std::int64_t>() = call.in[0].size(); }

}  // namespace

OpDef op_size() {
  return {.name = "Size", .types = "any -> i64", .infer = infer, .reference = reference, .onnx_since = 1,
          .cases = {"f32[2,3,4]", "f32[]", "u8[3,0]"}};
}

}  // namespace tenfold::ir
