// CastF8: casts to 8-bit floats by rules other than Cast's own: overflow to NaN or infinity (saturate=0), scales of type f8e8m0.
#include <cmath>

#include "base/types/element.h"
#include "base/types/half.h"
#include "ops/elementwise/cast_common.h"

namespace tenfold::ir {
namespace {

constexpr std::uint8_t kNan = 255;   // of f8e8m0, whose code c stands for 2^(c - 127)

std::uint8_t to_scale(double value, bool saturate, const std::string& mode) {
  if (std::isnan(value)) return kNan;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return saturate ? 254 : kNan;
  if (magnitude == 0) return saturate ? 0 : kNan;
  int exponent;
  const double fraction = std::frexp(magnitude, &exponent);   // in [0.5, 1): 0.5 is a power of two, 0.75 half-way to the next
  const bool is_up = mode == "down" ? false : mode == "nearest" ? fraction >= 0.75 : fraction > 0.5;
  const int code = exponent - 1 + (is_up ? 1 : 0) + 127;
  if (code >= 0 && code <= 254) return static_cast<std::uint8_t>(code);
  return saturate ? static_cast<std::uint8_t>(code < 0 ? 0 : 254) : kNan;
}

SmallFloat format_of(DType type) {
  switch (type) {
    case DType::f8e4m3fn: return kE4M3FN;
    case DType::f8e4m3fnuz: return kE4M3FNUZ;
    case DType::f8e5m2: return kE5M2;
    default: return kE5M2FNUZ;
  }
}

void infer(InferCall& call) {
  const DType to = cast_target(call.attributes());
  call.validate(bits(to) == 8 && is_float(to), "CastF8 makes 8-bit floats, not ", name(to));
  const std::string& mode = call.attributes().string("round_mode");
  call.validate(mode == "up" || mode == "down" || mode == "nearest", "round_mode is '", mode, "'; up, down or nearest expected");
  call.out(0, to, call.dims(0));
}

void reference(Call& call) {
  const DType to = call.out[0].dtype;
  const bool saturate = call.attributes().integer("saturate") != 0;
  const std::string& mode = call.attributes().string("round_mode");
  for (std::int64_t i = 0; i < call.in[0].size(); ++i) {
    const double value = load_double(call.in[0].dtype, call.in[0].data, i);
    const std::uint8_t code =
        to == DType::f8e8m0 ? to_scale(value, saturate, mode) : float_to_small(format_of(to), round_to_odd(value), saturate);
    call.out[0].as<std::uint8_t>()[i] = code;
  }
}

}  // namespace

OpDef op_cast_f8() {
  return {.name = "CastF8",
          .types = "dense -> float",
          .attributes = {{"saturate", 1}, {"round_mode", "up"}},
          .optional_attributes = "to: string",
          .infer = infer,
          .reference = reference,
          .cases = {"f32[9](-600,600) to=\"f8e4m3fn\" saturate=0", "f32[2,3](-90000,90000) to=\"f8e5m2\" saturate=0",
                    "f32[5](0.1,9) to=\"f8e8m0\"", "f16[5](0.1,9) to=\"f8e8m0\" round_mode=\"nearest\"", "f32[0,3] to=\"f8e8m0\""},
          .tolerance = 0,
          .on_host = "no GPU converts to 8-bit floats without saturation"};
}

}  // namespace tenfold::ir
