// Constant: a value written in the model. Importing makes a graph constant of it; no node remains.
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Tensor& value = call.attributes().tensor("value");
  call.out(0, value.dtype(), to_dims(value.shape()));
  if ((is_integer(value.dtype()) || value.dtype() == DType::boolean) && value.size() <= kMaxContents) {
    Dims contents;
    for (std::int64_t i = 0; i < value.size(); ++i) contents.push_back(value.as_int(i));
    call.out_contents(0, std::move(contents));
  }
}

void reference(Call& call) {
  const Tensor& value = call.attributes().tensor("value");
  ops::move_elements(value.dtype(), value.raw(), 0, call.out[0].data, 0, value.size());
}

}  // namespace

OpDef op_constant() {
  return {.name = "Constant",
          .min_inputs = 0,
          .max_inputs = 0,
          .types = "-> *",
          .optional_attributes = "value: tensor",
          .infer = infer,
          .reference = reference,
          .cases = {"value=f32[2]{1,2}", "value=i64[3]{1,-1,4}", "value=bool[]{1}"}};
}

}  // namespace tenfold::ir
