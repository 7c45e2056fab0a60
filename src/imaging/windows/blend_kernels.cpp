// One body for each loop, compiled for AVX-512, AVX2 and plain x86-64. No multiplication is fused with an addition, so
// that results do not depend on the processor (-ffp-contract=off in cmake/toolchain.cmake).
#include "windows/blend_kernels.h"

#include <immintrin.h>

#include <algorithm>

#include "windows/avx512.h"

namespace tenfold::windows {
namespace {

// Of floats anywhere in memory; not so for clang, which forgets in templates that vectors may lie there.
#ifdef __clang__
#define TENFOLD_ANYWHERE
#else
#define TENFOLD_ANYWHERE aligned(alignof(float)),
#endif
template <int kLanes>
struct VectorOf {
  typedef float Type __attribute__((vector_size(kLanes * sizeof(float)), TENFOLD_ANYWHERE may_alias));
};
template <>
struct VectorOf<1> { typedef float Type; };

// A row reads and writes so many streams that processors do not see all of them coming: a later row of each is asked for
// early, into the second cache, since windows of round extents would drive each other out of the first.
constexpr std::int64_t kRowsAhead = 8;

// What is alike for all voxels of a stretch in a row.
struct Step {
  const float* sums;        // before
  float* to;
  const BlendTerm* terms;
  std::int64_t number;      // of terms
  std::int64_t values, weights;     // where the row begins in them
  std::int64_t ahead, sums_ahead;   // from it to a later row; sums_ahead is 0 where sums pass the caches
  const float* divisors[2];
  bool fresh, streams;      // streams: `to` is written past the caches, of whole lines
};

// By reference: without AVX, a function cannot take or return AVX's vectors.
template <int kLanes>
[[gnu::always_inline]] inline void load(const float* from, typename VectorOf<kLanes>::Type& to) {
#ifdef __clang__
  __builtin_memcpy(&to, from, sizeof to);
#else
  to = *reinterpret_cast<const typename VectorOf<kLanes>::Type*>(from);
#endif
}
template <int kLanes>
[[gnu::always_inline]] inline void store(float* to, const typename VectorOf<kLanes>::Type& from) {
#ifdef __clang__
  __builtin_memcpy(to, &from, sizeof from);
#else
  *reinterpret_cast<typename VectorOf<kLanes>::Type*>(to) = from;
#endif
}

// Intrinsics are for functions whose instruction set is said, which a template's is not.
template <int kLanes>
[[gnu::always_inline]] inline void stream_vector(float* to, const typename VectorOf<kLanes>::Type& from) {
  using Vector = typename VectorOf<kLanes>::Type;
#ifdef __clang__
  __builtin_nontemporal_store(from, reinterpret_cast<Vector*>(to));
#else
  if constexpr (kLanes == 4) asm volatile("movntps %1, %0" : "=m"(*reinterpret_cast<Vector*>(to)) : "x"(from));
  else if constexpr (kLanes > 4) asm volatile("vmovntps %1, %0" : "=m"(*reinterpret_cast<Vector*>(to)) : "v"(from));
  else *to = from;
#endif
}

template <bool kWeighed, int kLanes>
[[gnu::always_inline]] inline void take_product(const Step& s, const BlendTerm& term, std::int64_t at,
                                                typename VectorOf<kLanes>::Type& to) {
  const float* const values = term.values + s.values + at;
  __builtin_prefetch(values + s.ahead, 0, 1);
  load<kLanes>(values, to);
  if constexpr (kWeighed) {
    typename VectorOf<kLanes>::Type weights;
    load<kLanes>(term.weights + s.weights + at, weights);
    to = to * weights;
  }
}

// kLanes * kVectors voxels from `at` on: their sum stays in registers from the first window to the last. kTerms: of a
// fresh stretch; 0: any number of any.
template <bool kWeighed, int kLanes, int kVectors, int kTerms>
[[gnu::always_inline]] inline void blend_voxels(const Step& s, std::int64_t at) {
  using Vector = typename VectorOf<kLanes>::Type;
  Vector sum[kVectors], product;
  const bool fresh = kTerms > 0 || s.fresh;
  const std::int64_t terms = kTerms > 0 ? kTerms : s.number;
  for (int v = 0; v < kVectors; ++v) {
    if (fresh) take_product<kWeighed, kLanes>(s, s.terms[0], at + v * kLanes, sum[v]);
    else load<kLanes>(s.sums + at + v * kLanes, sum[v]);
    if (s.sums_ahead != 0) __builtin_prefetch(s.sums + at + v * kLanes + s.sums_ahead, 1, 1);
  }
  for (std::int64_t t = fresh ? 1 : 0; t < terms; ++t)
    for (int v = 0; v < kVectors; ++v) {
      take_product<kWeighed, kLanes>(s, s.terms[t], at + v * kLanes, product);
      sum[v] = sum[v] + product;
    }
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t i = at + v * kLanes;
    if (s.divisors[0] != nullptr) {
      Vector divisor, other;
      load<kLanes>(s.divisors[0] + i, divisor);
      if (s.divisors[1] != nullptr) load<kLanes>(s.divisors[1] + i, other), divisor = divisor + other;
      sum[v] = sum[v] / divisor;
    }
    if (s.streams) stream_vector<kLanes>(s.to + i, sum[v]);
    else store<kLanes>(s.to + i, sum[v]);
  }
}

template <bool kWeighed, int kLanes, int kTerms>
[[gnu::always_inline]] inline void blend_stretch(const Step& s, std::int64_t count) {
  std::int64_t at = 0;
  for (; at + 4 * kLanes <= count; at += 4 * kLanes) blend_voxels<kWeighed, kLanes, 4, kTerms>(s, at);
  if (at + 2 * kLanes <= count) blend_voxels<kWeighed, kLanes, 2, kTerms>(s, at), at += 2 * kLanes;
  if (at + kLanes <= count) blend_voxels<kWeighed, kLanes, 1, kTerms>(s, at), at += kLanes;
  if (at == count) return;
  if constexpr (kLanes > 4)
    for (; at + 4 <= count; at += 4) blend_voxels<kWeighed, 4, 1, 0>(s, at);
  for (; at < count; ++at) blend_voxels<kWeighed, 1, 1, 0>(s, at);
}

// As many windows as cover a voxel at overlaps up to a half, without a loop over them.
template <bool kWeighed, int kLanes>
[[gnu::always_inline]] inline void blend_stretch(const Step& s, std::int64_t count) {
  switch (s.fresh ? s.number : 0) {
    case 1: return blend_stretch<kWeighed, kLanes, 1>(s, count);
    case 2: return blend_stretch<kWeighed, kLanes, 2>(s, count);
    case 4: return blend_stretch<kWeighed, kLanes, 4>(s, count);
    case 8: return blend_stretch<kWeighed, kLanes, 8>(s, count);
    default: return blend_stretch<kWeighed, kLanes, 0>(s, count);
  }
}

// Whether all stretches are whole lines, in all rows.
bool whole_lines(const BlendRows& a) {
  constexpr std::int64_t kLine = 16;
  const auto whole = [](const BlendStretch& one) { return one.begin % kLine == 0 && one.count % kLine == 0; };
  return reinterpret_cast<std::uintptr_t>(a.sums) % (kLine * sizeof(float)) == 0 && a.sums_stride % kLine == 0 &&
         a.sums_channel % kLine == 0 && std::all_of(a.stretches.begin(), a.stretches.end(), whole);
}

template <bool kWeighed, int kLanes, auto kStream>
[[gnu::always_inline]] inline void blend_row(const BlendRows& a, bool direct, std::int64_t channel, std::int64_t row) {
  float* const sums = a.sums + channel * a.sums_channel + row * a.sums_stride;
  const bool streams = a.scratch != nullptr;
  float* const to = streams && !direct ? a.scratch : sums;
  const std::int64_t weights = row * a.values_stride, values = channel * a.values_channel + weights;
  for (const BlendStretch& one : a.stretches) {
    Step step{sums + one.begin, to + one.begin, a.terms + one.first_term, one.terms, values, weights,
              kRowsAhead * a.values_stride, streams ? 0 : kRowsAhead * a.sums_stride, {}, one.fresh, direct};
    for (int i = 0; i < 2; ++i)
      if (one.last && a.divisors[i] != nullptr) step.divisors[i] = a.divisors[i] + row * a.sums_stride + one.begin;
    blend_stretch<kWeighed, kLanes>(step, one.count);
  }
  if (!streams || direct) return;
  const BlendStretch& first = a.stretches.front();
  const BlendStretch& last = a.stretches.back();
  kStream(to + first.begin, sums + first.begin, last.begin + last.count - first.begin);
}

template <bool kWeighed, int kLanes, auto kStream>
[[gnu::always_inline]] inline void blend_rows(const BlendRows& a) {
  const bool direct = a.scratch != nullptr && whole_lines(a);
  for (std::int64_t channel = 0; channel < a.channels; ++channel)
    for (std::int64_t row = 0; row < a.rows; ++row) blend_row<kWeighed, kLanes, kStream>(a, direct, channel, row);
  if (a.scratch != nullptr) _mm_sfence();   // other threads read what was written, as after any other store
}

template <int kLanes, auto kStream>
[[gnu::always_inline]] inline void blend_body(const BlendRows& rows) {
  if (rows.terms->weights != nullptr) blend_rows<true, kLanes, kStream>(rows);
  else blend_rows<false, kLanes, kStream>(rows);
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

// stream: past the caches, as whole lines but for the ends.
#define TENFOLD_BLEND_KERNELS(name, lanes, load_vector, stream_vector, ...)                                       \
  __VA_ARGS__ void stream_##name(const float* from, float* to, std::int64_t count) {                              \
    std::int64_t i = 0;                                                                                           \
    for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % 64 != 0; ++i) to[i] = from[i];                  \
    for (; i + 16 <= count; i += 16)                                                                              \
      for (int part = 0; part < 16; part += lanes) stream_vector(to + i + part, load_vector(from + i + part));     \
    for (; i < count; ++i) to[i] = from[i];                                                                       \
  }                                                                                                               \
  __VA_ARGS__ void blend_##name(const BlendRows& rows) { blend_body<lanes, stream_##name>(rows); }                \
  __VA_ARGS__ void divide_##name(const float* sums, const float* weights, float* to, std::int64_t count) {        \
    divide_body(sums, weights, to, count);                                                                        \
  }                                                                                                               \
  __VA_ARGS__ bool positive_##name(const float* values, std::int64_t count) { return positive_body(values, count); } \
  constexpr BlendKernels k_##name{blend_##name, divide_##name, positive_##name};

TENFOLD_BLEND_KERNELS(plain, 4, _mm_loadu_ps, _mm_stream_ps)
TENFOLD_BLEND_KERNELS(avx2, 8, _mm256_loadu_ps, _mm256_stream_ps, [[gnu::target("avx2")]])
TENFOLD_BLEND_KERNELS(avx512, 16, _mm512_loadu_ps, _mm512_stream_ps,
                      TENFOLD_AVX512)
#undef TENFOLD_BLEND_KERNELS

}  // namespace

const BlendKernels& blend_kernels() {
  static const BlendKernels& best = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? k_avx512
                                    : __builtin_cpu_supports("avx2")                                        ? k_avx2
                                                                                                            : k_plain;
  return best;
}

}  // namespace tenfold::windows
