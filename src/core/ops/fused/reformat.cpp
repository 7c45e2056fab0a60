// Reformat (internal): the same elements in another layout or in dense order. What plans insert between steps that differ.
#include <cstring>

#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& c) { c.out(0, c.dtype(0), c.dims(0)); }
// The reference sees dense plain operands, for which nothing changes.
void reference(Call& c) {
  if (const std::int64_t bytes = byte_size(c.in[0].dtype, c.in[0].size()))
    std::memcpy(c.out[0].data, c.in[0].data, static_cast<std::size_t>(bytes));
}

}  // namespace

OpDef op_reformat() {
  return {.name = "Reformat", .types = "T -> T; T: any", .infer = infer, .reference = reference,
          .traits = {.movement = Movement::other}, .cases = {"f32[2,3,5]", "u8[1,7]"}};
}

}  // namespace tenfold::ir
