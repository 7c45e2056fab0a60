// ConstantOfShape: a tensor of the shape that operand 0 holds, every element the attribute `value`.
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Tensor& value = call.attributes().tensor("value");
  call.validate(value.size() == 1, "value has ", value.size(), " elements, 1 expected");
  const Dims dims = ops::need_shape(call, 0);
  call.out(0, value.dtype(), dims);
  if (const auto shape = ops::constant_shape(dims); shape && (is_integer(value.dtype()) || value.dtype() == DType::boolean))
    call.out_contents(0, Dims(static_cast<std::size_t>(element_count(*shape)), Dim(value.as_int(0))));
}

void reference(Call& call) {
  ops::set_output_shape(call, 0, ops::read_ints(call.in[0]));
  ops::fill_elements(call.out[0], call.attributes().tensor("value").raw());
}

}  // namespace

OpDef op_constant_of_shape() {
  return {.name = "ConstantOfShape",
          .types = "int -> *",
          .attributes = {{"value", Tensor(DType::f32, {1})}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 9,
          .cases = {"i64[2]{2,3}", "i64[3]{1,4,2} value=i64[1]{-7}", "i64[1]{5} value=bool[1]{1}", "i64[2]{3,0} value=f16[1]{0.5}",
                    "i64[0]{} value=f32[1]{2.5}"}};
}

}  // namespace tenfold::ir
