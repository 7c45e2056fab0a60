// QuantizeRows (internal): each row (along the last dim) to 8 bits, with a scale of its own: the largest magnitude by the largest number of
// the type `to`. That is u8 around 128, i8, or e4m3. Results: the bytes, then a scale for each row. A row with something that is no finite
// number gets a scale of NaN, and so do products of it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/types/element.h"
#include "ir/op_def.h"
#include "ops/real_access.h"

namespace tenfold::ir {
namespace {

std::optional<DType> type_of(const Attributes& attributes) { return dtype_from_name(attributes.string("to")); }

void infer(InferCall& call) {
  Dims scales = call.dims(0);
  call.validate(!scales.empty(), "there are no rows in a number");
  scales.back() = Dim(1);
  const auto to = type_of(call.attributes());
  call.validate(to == DType::u8 || to == DType::i8 || to == DType::f8e4m3fn, "rows are quantized to \"", call.attributes().string("to"),
             "\", expected u8, i8 or f8e4m3fn");
  call.out(0, *to, call.dims(0));
  call.out(1, DType::f32, std::move(scales));
}

// `store` gets the elements of a row in units of its scale, which is given back. Rows next to zero are zeros.
template <class Store>
float quantize(const float* x, std::int64_t n, float largest, const Store& store) {
  float max = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < n; ++i) max = std::max(max, std::fabs(x[i])), finite = finite && std::isfinite(x[i]);
  const float by = max > largest / std::numeric_limits<float>::max() && finite ? largest / max : 0;
  for (std::int64_t i = 0; i < n; ++i) store(i, by > 0 ? x[i] * by : 0.0f);
  return finite ? max / largest : std::numeric_limits<float>::quiet_NaN();
}

void reference(Call& call) {
  constexpr float kLargestByte = 127, kLargestE4m3 = 448;
  const std::int64_t n = call.in[0].shape.back(), rows = call.out[1].size();
  const DType to = *type_of(call.attributes());
  const ops::RealIn<float> x(call.in[0]);
  auto* const y = call.out[0].as<std::uint8_t>();
  const int zero = to == DType::u8 ? 128 : 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = x.data() + r * n;
    float& scale = call.out[1].as<float>()[r];
    if (to == DType::f8e4m3fn)
      scale = quantize(row, n, kLargestE4m3, [&](std::int64_t i, float v) { store_double(to, y, r * n + i, static_cast<double>(v)); });
    else
      scale = quantize(row, n, kLargestByte, [&](std::int64_t i, float v) {
        y[r * n + i] = static_cast<std::uint8_t>(static_cast<int>(std::clamp(std::nearbyint(v), -kLargestByte, kLargestByte)) + zero);
      });
  }
}

}  // namespace

OpDef op_quantize_rows() {
  return {.name = "QuantizeRows",
          .min_outputs = 2,
          .max_outputs = 2,
          .types = "float -> *, f32",
          .attributes = {{"to", "u8"}},
          .infer = infer,
          .reference = reference,
          .traits = {.narrows = true},
          .cases = {"f32[3,17](-2,5)", "f32[2,3,64](-1,1)", "f32[1,1000](-0.2,9)", "f32[2,4]{0,0,0,0,1,2,3,4}", "f32[2,0]",
                    "f32[3,33](-2,5) to=\"i8\"", "f16[5,384](-3,3) to=\"i8\"", "bf16[5,100](-3,3) to=\"f8e4m3fn\"",
                    "f32[2,4]{0,0,0,0,inf,2,3,4} to=\"f8e4m3fn\"", "f16[4,768](-0.2,9) to=\"f8e4m3fn\""},
          .tolerance = 0};
}

}  // namespace tenfold::ir
