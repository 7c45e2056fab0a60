// One body for each loop, compiled for AVX-512, AVX2 and plain x86-64. No multiplication is fused with an addition, so
// that results do not depend on the processor (-ffp-contract=off in cmake/toolchain.cmake).
#include "windows/blend_kernels.h"

#include <algorithm>

namespace tenfold::windows {
namespace {

// Voxels of a row where the same is done for all.
struct Stretch {
  std::int64_t begin, count;
  int kind;   // of add_stretch()
};

constexpr int kFresh = 1, kWeighed = 2, kDivided = 4, kDividedByTwo = 8;

template <int kKind>
[[gnu::always_inline]] inline void add_stretch(const AddRows& a, std::int64_t at, std::int64_t from,
                                               std::int64_t count) {
  float* __restrict const sums = a.sums + at;
  const float* __restrict const values = a.values + from;
  const float* __restrict const weights = kKind & kWeighed ? a.weights + from : nullptr;   // as large as the window
  const float* __restrict const first = kKind & (kDivided | kDividedByTwo) ? a.divisors[0] + at : nullptr;
  const float* __restrict const second = kKind & kDividedByTwo ? a.divisors[1] + at : nullptr;
  for (std::int64_t i = 0; i < count; ++i) {
    float sum = kKind & kWeighed ? values[i] * weights[i] : values[i];
    if (!(kKind & kFresh)) sum = sums[i] + sum;
    if (kKind & kDivided) sum /= first[i];
    if (kKind & kDividedByTwo) sum /= first[i] + second[i];
    sums[i] = sum;
  }
}

[[gnu::always_inline]] inline void add_stretch(const AddRows& a, std::int64_t at, std::int64_t from,
                                               std::int64_t count, int kind) {
  switch (kind) {
    case 0: return add_stretch<0>(a, at, from, count);
    case 1: return add_stretch<1>(a, at, from, count);
    case 2: return add_stretch<2>(a, at, from, count);
    case 3: return add_stretch<3>(a, at, from, count);
    case 4: return add_stretch<4>(a, at, from, count);
    case 5: return add_stretch<5>(a, at, from, count);
    case 6: return add_stretch<6>(a, at, from, count);
    case 7: return add_stretch<7>(a, at, from, count);
    case 8: return add_stretch<8>(a, at, from, count);
    case 9: return add_stretch<9>(a, at, from, count);
    case 10: return add_stretch<10>(a, at, from, count);
    case 11: return add_stretch<11>(a, at, from, count);
    default: __builtin_unreachable();
  }
}

// Row by row: a row is in cache once only.
[[gnu::always_inline]] inline void add_body(const AddRows& a) {
  const std::int64_t cuts[] = {0, std::min(a.fresh, a.last), std::max(a.fresh, a.last), a.count};
  Stretch stretches[3];
  int number = 0;
  for (int part = 0; part < 3; ++part) {
    const std::int64_t begin = cuts[part], count = cuts[part + 1] - begin;
    const int divided = begin >= a.last ? 0 : a.divisors[1] == nullptr ? kDivided : kDividedByTwo;
    if (count > 0)
      stretches[number++] = {begin, count,
                             (begin >= a.fresh ? kFresh : 0) | (a.weights != nullptr ? kWeighed : 0) | divided};
  }
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (int i = 0; i < number; ++i)
      add_stretch(a, row * a.sums_stride + stretches[i].begin, row * a.values_stride + stretches[i].begin,
                  stretches[i].count, stretches[i].kind);
}

[[gnu::always_inline]] inline void divide_body(const float* sums, const float* weights, float* to,
                                                std::int64_t count) {
  const float* __restrict const w = weights;
  float* __restrict const out = to;
  if (sums == to) {
    for (std::int64_t i = 0; i < count; ++i) out[i] /= w[i];
  } else {
    const float* __restrict const from = sums;
    for (std::int64_t i = 0; i < count; ++i) out[i] = from[i] / w[i];
  }
}

[[gnu::always_inline]] inline bool positive_body(const float* values, std::int64_t count) {
  int others = 0;   // a minimum of floats is no loop that compilers turn into vectors
  for (std::int64_t i = 0; i < count; ++i) others |= !(values[i] > 0);
  return others == 0;
}

#define TENFOLD_BLEND_KERNELS(name, ...)                                                                          \
  __VA_ARGS__ void add_##name(const AddRows& rows) { add_body(rows); }                                            \
  __VA_ARGS__ void divide_##name(const float* sums, const float* weights, float* to, std::int64_t count) {        \
    divide_body(sums, weights, to, count);                                                                        \
  }                                                                                                               \
  __VA_ARGS__ bool positive_##name(const float* values, std::int64_t count) { return positive_body(values, count); } \
  constexpr BlendKernels k_##name{add_##name, divide_##name, positive_##name};

TENFOLD_BLEND_KERNELS(plain)
TENFOLD_BLEND_KERNELS(avx2, [[gnu::target("avx2")]])
TENFOLD_BLEND_KERNELS(avx512, [[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]])
#undef TENFOLD_BLEND_KERNELS

}  // namespace

const BlendKernels& blend_kernels() {
  static const BlendKernels& best = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? k_avx512
                                    : __builtin_cpu_supports("avx2")                                        ? k_avx2
                                                                                                            : k_plain;
  return best;
}

}  // namespace tenfold::windows
