// DequantizeLinear: (x - zero point) * scale.
#include "ir/fault.h"
#include "ops/quantize/quantize_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const std::string& type_name = call.attributes().string("output_dtype");
  ops::check_scales(call);
  DType type = call.dtype(1);
  if (!type_name.empty()) {
    const auto named = dtype_from_name(type_name);
    call.validate(named.has_value() && is_float(*named), "output_dtype is \"", type_name, "\", expected a float");
    type = *named;
  }
  call.out(0, type, call.dims(0));
}

void reference(Call& call) {
  const TensorRef &x = call.in[0], &y = call.out[0];
  const ops::RealIn<float> scale(call.in[1]);
  const ops::RealIn<double> zero(call.has(2) ? call.in[2] : TensorRef{});
  const ops::ScaleIndex at(call);
  const std::int64_t size = x.size();
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t s = at(i);
    const double centered = load_double(x.dtype, x.data, i) - (zero.data() ? zero[at.zero(s)] : 0.0);
    store_double(y.dtype, y.data, i, static_cast<double>(static_cast<float>(centered) * scale[s]));
  }
}

}  // namespace

OpDef op_dequantize_linear() {
  return {.name = "DequantizeLinear",
          .min_inputs = 2,
          .max_inputs = 3,
          .types = "Q, float, Q -> float; Q: number",
          .attributes = {{"axis", 1}, {"block_size", 0}, {"output_dtype", ""}},
          .infer = infer,
          .reference = reference,
          .cases = {"u8[2,3,5] f32[]{0.02} u8[]{7}", "i8[2,3,5] f32[3](0.01,0.05)! i8[3](-5,5)!", "i8[4,7] f32[7](0.01,0.05) axis=-1",
                    "i8[4,6] f32[4,2](0.01,0.05) i8[4,2] block_size=3 axis=1", "i32[9] f32[]{0.5}", "i4[9] f32[]{0.3} i4[]{1}",
                    "f8e4m3fn[9] f32[]{0.3}", "u8[2,9] f16[]{0.125} u8[]{3}"}};
}

}  // namespace tenfold::ir
