// Printing erf and GELU with their constants.
#include "backends/cuda/codegen/gelu_text.h"

#include <bit>
#include <cstdint>
#include <iterator>

#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

std::string exactly(float x) { return cat("__int_as_float(", std::bit_cast<std::int32_t>(x), ")"); }

std::string polynomial(const float* c, std::size_t count, const std::string& x) {
  std::string out = exactly(c[count - 1]);
  for (std::size_t i = count - 1; i-- > 0;) out = cat("fmaf(", out, ", ", x, ", ", exactly(c[i]), ")");
  return out;
}

}  // namespace

std::string gelu_text() {
  return cat(R"(
__device__ __forceinline__ float erf_half(float x) {
  const float t = fminf(x * x, )", exactly(kErfMost), R"();
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x * )", polynomial(kErf, std::size(kErf), "t"), R"());
  return y;
}
__device__ __forceinline__ float gelu_tail(float x) {
  const float s = __saturatef(fabsf(x) * )", exactly(1 / kGeluReach), R"();
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"()", polynomial(kGeluTail, std::size(kGeluTail), "s"), R"());
  return s * y;
}
__device__ __forceinline__ float gelu_half(float x) { return fmaf(x + fabsf(x), 0.5f, -gelu_tail(x)); }
)");
}

}  // namespace tenfold::backends::cuda
