// One body for each loop, compiled for AVX-512, AVX2 and plain x86-64, without fused multiplication and addition.
#include "windows/resample_kernels.h"

#include <algorithm>

#include "windows/avx512.h"

namespace tenfold::windows {
namespace {

[[gnu::always_inline]] inline void gather_body(const float* from, const std::int32_t* first, const std::int32_t* second,
                                               const float* weight, float* to, std::int64_t count) {
  float* __restrict const out = to;
  for (std::int64_t i = 0; i < count; ++i) out[i] = from[first[i]] * (1 - weight[i]) + from[second[i]] * weight[i];
}

[[gnu::always_inline]] inline void mix_body(const float* first, const float* second, float weight, float* to,
                                            std::int64_t count) {
  float* __restrict const out = to;
  const float rest = 1 - weight;
  for (std::int64_t i = 0; i < count; ++i) out[i] = first[i] * rest + second[i] * weight;
}

constexpr std::int64_t kBlock = 128;   // voxels whose largest values and labels stay in the first cache

// NaN is greater than all numbers: `known <= known` is false for it alone.
template <bool kMixed>
[[gnu::always_inline]] inline void argmax_block(const MixedRows& rows, std::int64_t at, std::int64_t count,
                                                float* __restrict best, std::int32_t* __restrict label) {
  const float weight = rows.weight, rest = 1 - weight;
  for (std::int64_t c = 0; c < rows.channels; ++c) {
    const float* const first = rows.first + c * rows.stride + at;
    const float* const second = rows.second + c * rows.stride + at;
    const auto number = static_cast<std::int32_t>(c);
    for (std::int64_t i = 0; i < count; ++i) {
      const float value = kMixed ? first[i] * rest + second[i] * weight : first[i];
      const bool larger = !(value <= best[i]) & (best[i] == best[i]);
      best[i] = larger ? value : best[i];
      label[i] = larger ? number : label[i];
    }
  }
}

template <class Label>
[[gnu::always_inline]] inline void argmax_body(const MixedRows& rows, Label* labels) {
  alignas(64) float best[kBlock];
  alignas(64) std::int32_t label[kBlock];
  for (std::int64_t at = 0; at < rows.count; at += kBlock) {
    const std::int64_t count = std::min(kBlock, rows.count - at);
    for (std::int64_t i = 0; i < count; ++i) best[i] = -__builtin_inff(), label[i] = 0;
    if (rows.first == rows.second) argmax_block<false>(rows, at, count, best, label);
    else if (count == kBlock) argmax_block<true>(rows, at, kBlock, best, label);
    else argmax_block<true>(rows, at, count, best, label);
    for (std::int64_t i = 0; i < count; ++i) labels[at + i] = static_cast<Label>(label[i]);
  }
}

#define TENFOLD_RESAMPLE_KERNELS(name, ...)                                                                          \
  __VA_ARGS__ void gather_##name(const float* from, const std::int32_t* first, const std::int32_t* second,           \
                                 const float* weight, float* to, std::int64_t count) {                               \
    gather_body(from, first, second, weight, to, count);                                                             \
  }                                                                                                                  \
  __VA_ARGS__ void mix_##name(const float* first, const float* second, float weight, float* to, std::int64_t count) { \
    mix_body(first, second, weight, to, count);                                                                      \
  }                                                                                                                  \
  __VA_ARGS__ void argmax_u8_##name(const MixedRows& rows, std::uint8_t* labels) { argmax_body(rows, labels); }      \
  __VA_ARGS__ void argmax_u16_##name(const MixedRows& rows, std::uint16_t* labels) { argmax_body(rows, labels); }    \
  constexpr ResampleKernels k_##name{gather_##name, mix_##name, argmax_u8_##name, argmax_u16_##name};

TENFOLD_RESAMPLE_KERNELS(plain)
TENFOLD_RESAMPLE_KERNELS(avx2, [[gnu::target("avx2")]])
TENFOLD_RESAMPLE_KERNELS(avx512, TENFOLD_AVX512)
#undef TENFOLD_RESAMPLE_KERNELS

}  // namespace

const ResampleKernels& resample_kernels() {
  static const ResampleKernels& best =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? k_avx512
      : __builtin_cpu_supports("avx2")                                        ? k_avx2
                                                                              : k_plain;
  return best;
}

}  // namespace tenfold::windows
