// One body for each loop, compiled for AVX-512, AVX2 and plain x86-64. No multiplication is fused with an addition, so
// that results do not depend on the processor (-ffp-contract=off in cmake/toolchain.cmake).
#include "windows/blend_kernels.h"

#include <cmath>

namespace tenfold::windows {
namespace {

[[gnu::always_inline]] inline void add_row(float* __restrict sums, const float* __restrict values,
                                           const float* __restrict weights, std::int64_t count, std::int64_t fresh) {
  if (weights != nullptr) {
    for (std::int64_t i = 0; i < fresh; ++i) sums[i] += values[i] * weights[i];
    for (std::int64_t i = fresh; i < count; ++i) sums[i] = values[i] * weights[i];
  } else {
    for (std::int64_t i = 0; i < fresh; ++i) sums[i] += values[i];
    for (std::int64_t i = fresh; i < count; ++i) sums[i] = values[i];
  }
}

[[gnu::always_inline]] inline void add_body(const AddRows& a) {
  const float* weights = a.weights;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    add_row(a.sums + row * a.sums_stride, a.values + row * a.values_stride, weights, a.count, a.fresh);
    if (weights != nullptr) weights += a.values_stride;   // a map has the window's extents
  }
}

[[gnu::always_inline]] inline float divide_body(const float* sums, const float* weights, float* to,
                                                std::int64_t count) {
  const float* __restrict const w = weights;
  float* __restrict const out = to;
  if (sums == to) {
    for (std::int64_t i = 0; i < count; ++i) out[i] /= w[i];
  } else {
    const float* __restrict const from = sums;
    for (std::int64_t i = 0; i < count; ++i) out[i] = from[i] / w[i];
  }
  float least = INFINITY;
  for (std::int64_t i = 0; i < count; ++i) least = w[i] < least ? w[i] : least;
  return least;
}

void add_plain(const AddRows& rows) { add_body(rows); }
float divide_plain(const float* sums, const float* weights, float* to, std::int64_t count) {
  return divide_body(sums, weights, to, count);
}

[[gnu::target("avx2")]] void add_avx2(const AddRows& rows) { add_body(rows); }
[[gnu::target("avx2")]] float divide_avx2(const float* sums, const float* weights, float* to, std::int64_t count) {
  return divide_body(sums, weights, to, count);
}

[[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]] void add_avx512(const AddRows& rows) { add_body(rows); }
[[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]] float divide_avx512(const float* sums, const float* weights,
                                                                                float* to, std::int64_t count) {
  return divide_body(sums, weights, to, count);
}

}  // namespace

const BlendKernels& blend_kernels() {
  static constexpr BlendKernels plain{add_plain, divide_plain}, avx2{add_avx2, divide_avx2},
      avx512{add_avx512, divide_avx512};
  static const BlendKernels& best = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? avx512
                                    : __builtin_cpu_supports("avx2")                                        ? avx2
                                                                                                            : plain;
  return best;
}

}  // namespace tenfold::windows
