// QuantizeLinear: saturate(round(x / scale) + zero point), or a cast to an 8- or 4-bit float after the division.
#include "base/types/half.h"
#include "ir/fault.h"
#include "ops/quantize/quantize_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const std::string& type_name = call.attributes().string("output_dtype");
  ops::check_scales(call);
  DType type = DType::u8;
  if (!type_name.empty()) {
    const auto named = dtype_from_name(type_name);
    call.validate(named.has_value(), "output_dtype is \"", type_name, "\"");
    type = *named;
  }
  if (call.has(2)) {
    call.validate(type_name.empty() || call.dtype(2) == type, "the zero point is ", name(call.dtype(2)), ", but output_dtype is ",
                  type_name);
    type = call.dtype(2);
  }
  call.validate((is_integer(type) && bits(type) <= 32) || (is_float(type) && bits(type) <= 8), "cannot quantize to ", name(type));
  call.supported(type != DType::f8e8m0 || call.attributes().integer("saturate") != 0, "quantizing to f8e8m0 without saturation");
  call.out(0, type, call.dims(0));
}

// A float of 8 bits without saturation: what lies outside becomes infinity or NaN.
std::uint8_t unsaturated(DType type, float value) {
  switch (type) {
    case DType::f8e4m3fn: return float_to_small(kE4M3FN, value, false);
    case DType::f8e4m3fnuz: return float_to_small(kE4M3FNUZ, value, false);
    case DType::f8e5m2: return float_to_small(kE5M2, value, false);
    case DType::f8e5m2fnuz: return float_to_small(kE5M2FNUZ, value, false);
    default: check(false, "quantizing to ", name(type), " without saturation");
  }
  return 0;
}

template <class T>
void run(Call& call) {
  const Attributes& attributes = call.attributes();
  const TensorRef& y = call.out[0];
  const ops::RealIn<T> x(call.in[0]);
  const ops::RealIn<float> scale(call.in[1]);
  const ops::RealIn<double> zero(call.has(2) ? call.in[2] : TensorRef{});
  const ops::ScaleIndex at(call);
  const bool saturate = attributes.integer("saturate") != 0, to_float = is_float(y.dtype);
  const ops::IntegerRange range = ops::range_of(y.dtype);
  const std::int64_t size = call.in[0].size();
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t s = at(i);
    const double z = zero.data() ? zero[at.zero(s)] : 0.0;
    if (!to_float)
      store_int(y.dtype, y.data, i, static_cast<std::int64_t>(ops::quantized(x[i], scale[s], z, range)));
    else if (saturate || bits(y.dtype) < 8)
      store_double(y.dtype, y.data, i, static_cast<double>(x[i] / scale[s]) + z);
    else
      y.as<std::uint8_t>()[i] = unsaturated(y.dtype, static_cast<float>(x[i] / scale[s]) + static_cast<float>(z));
  }
}

void reference(Call& call) {
  if (is_integer(call.in[0].dtype)) run<double>(call);
  else run<float>(call);
}

}  // namespace

OpDef op_quantize_linear() {
  return {.name = "QuantizeLinear",
          .min_inputs = 2,
          .max_inputs = 3,
          .types = "number, float, number -> number",
          .attributes = {{"axis", 1}, {"block_size", 0}, {"output_dtype", ""}, {"saturate", 1}},
          .infer = infer,
          .reference = reference,
          .cases = {"f32[2,3,5](-3,3) f32[]{0.02} u8[]{128}", "f32[2,3,5](-3,3) f32[3](0.01,0.05)! i8[3](-5,5)!",
                    "f32[4,7](-3,3) f32[7](0.01,0.05) axis=-1", "f32[4,6](-3,3) f32[4,2](0.01,0.05) i8[4,2] block_size=3 axis=1",
                    "f32[9](-30,30) f32[]{0.5} output_dtype=\"i16\"", "f32[9](-3,3) f32[]{0.3} i4[]{1}",
                    "f32[9](-3,3) f32[]{0.3} f8e4m3fn[]{0}", "f16[2,9](-3,3) f16[]{0.125} i8[]{0}"},
          .tolerance = 0};
}

}  // namespace tenfold::ir
