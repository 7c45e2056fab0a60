// DynamicQuantizeLinear: to u8 with the scale and zero point that the data's own range asks for.
#include <algorithm>

#include "ops/quantize/quantize_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, DType::u8, call.dims(0));
  call.out(1, call.dtype(0), {});
  call.out(2, DType::u8, {});
}

void reference(Call& call) {
  const ops::RealIn<float> x(call.in[0]);
  const std::int64_t size = call.in[0].size();
  float low = 0, high = 0;  // zero has to be among the values that can be written
  for (std::int64_t i = 0; i < size; ++i) low = std::min(low, x[i]), high = std::max(high, x[i]);
  const float scale = high == low ? 1.0f : (high - low) / 255.0f;
  const float place = __builtin_nearbyintf(-low / scale), zero = place == place ? std::clamp(place, 0.0f, 255.0f) : 0;   // of an infinity
  auto* y = call.out[0].as<std::uint8_t>();
  for (std::int64_t i = 0; i < size; ++i) y[i] = static_cast<std::uint8_t>(ops::quantized(x[i], scale, zero, {0, 255}));
  store_double(call.out[1].dtype, call.out[1].data, 0, scale);
  *call.out[2].as<std::uint8_t>() = static_cast<std::uint8_t>(zero);
}

}  // namespace

OpDef op_dynamic_quantize_linear() {
  return {.name = "DynamicQuantizeLinear",
          .min_outputs = 3,
          .max_outputs = 3,
          .types = "T -> u8, T, u8; T: float",
          .infer = infer,
          .reference = reference,
          .onnx_since = 11,
          .cases = {"f32[3,17](-2,5)", "f32[64](1,2)", "f32[5](-3,-1)", "f32[2]{0,0}"}};
}

}  // namespace tenfold::ir
