// QuantizeRows (internal): each row (along the last dim) to u8 around 128, with a scale of its own: the largest magnitude by 127. Results:
// the bytes, then a scale for each row. A row with something that is no finite number gets a scale of NaN, and so do products of it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  Dims scales = call.dims(0);
  call.sound(!scales.empty(), "there are no rows in a number");
  scales.back() = Dim(1);
  call.out(0, DType::u8, call.dims(0));
  call.out(1, DType::f32, std::move(scales));
}

void reference(Call& call) {
  const std::int64_t n = call.in[0].shape.back(), rows = call.out[1].size();
  const auto* x = call.in[0].as<float>();
  auto* y = call.out[0].as<std::uint8_t>();
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float most = 0;
    bool finite = true;
    for (std::int64_t i = 0; i < n; ++i) most = std::max(most, std::fabs(x[i])), finite = finite && std::isfinite(x[i]);
    const float by = most > 127 / std::numeric_limits<float>::max() && finite ? 127 / most : 0;   // rows next to zero are zeros
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = static_cast<std::uint8_t>(128 + (by > 0 ? std::clamp(std::nearbyint(x[i] * by), -127.0f, 127.0f) : 0.0f));
    call.out[1].as<float>()[r] = finite ? most / 127 : std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace

OpDef op_quantize_rows() {
  return {.name = "QuantizeRows",
          .min_outputs = 2,
          .max_outputs = 2,
          .types = "f32 -> u8, f32",
          .infer = infer,
          .reference = reference,
          .cases = {"f32[3,17](-2,5)", "f32[2,3,64](-1,1)", "f32[1,1000](-0.2,9)", "f32[2,4]{0,0,0,0,1,2,3,4}", "f32[2,0]"},
          .tolerance = 0};
}

}  // namespace tenfold::ir
