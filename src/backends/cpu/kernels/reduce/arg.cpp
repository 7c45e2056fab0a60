// Indices of extreme elements: vectors along columns, or along each row.
#include "backends/cpu/kernels/reduce/arg.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

TENFOLD_INLINE vmask both(vmask a, vmask b) {
#if defined(__AVX512F__)
  return a & b;
#else
  return _mm256_and_ps(a, b);
#endif
}
TENFOLD_INLINE vmask either(vmask a, vmask b) {
#if defined(__AVX512F__)
  return a | b;
#else
  return _mm256_or_ps(a, b);
#endif
}

// Whether x is chosen although `best` came before it. The negated comparisons are true for NaN, too.
template <bool kLargest, bool kLast>
TENFOLD_INLINE vmask better(vf x, vf best) {
  constexpr int kAhead = kLargest ? (kLast ? _CMP_NLT_UQ : _CMP_NLE_UQ) : (kLast ? _CMP_NGT_UQ : _CMP_NGE_UQ);
  const vmask number = compare<_CMP_ORD_Q>(best, best);
  return both(compare<kAhead>(x, best), kLast ? either(number, compare<_CMP_UNORD_Q>(x, x)) : number);
}
template <bool kLargest, bool kLast>
TENFOLD_INLINE bool better(float x, float best) {
  if (best != best) return kLast && x != x;
  return x != x || (kLargest ? x > best : x < best) || (kLast && x == best);
}

template <bool kLargest, bool kLast>
struct Best {
  vf value;
  vi index;
  static __attribute__((always_inline)) void start(Best& b, vf x) { b.value = x, b.index = set1i(0); }
  static __attribute__((always_inline)) void join(Best& b, vf x, vi at) {
    const vmask m = better<kLargest, kLast>(x, b.value);
    b.value = blend(b.value, x, m);
    b.index = as_int(blend(as_float(b.index), as_float(at), m));
  }
};

TENFOLD_INLINE void store_wide(int64_t* to, vi index, int64_t count) {
  alignas(64) std::int32_t narrow[kLanes];
  storei(narrow, index);
  if (count == kLanes)
    for (int i = 0; i < kLanes; ++i) to[i] = narrow[i];
  else
    for (int64_t i = 0; i < count; ++i) to[i] = narrow[i];
}

template <bool kLargest, bool kLast>
void columns(int64_t* to, const float* x, int64_t stride, int64_t extent, int64_t count) {
  using B = Best<kLargest, kLast>;
  constexpr int kWide = 4;  // vectors side by side: comparisons take longer than they wait for each other
  int64_t c = 0;
  for (; c + kWide * kLanes <= count; c += kWide * kLanes) {
    B best[kWide];
#pragma GCC unroll 8
    for (int v = 0; v < kWide; ++v) B::start(best[v], load(x + c + v * kLanes));
    for (int64_t r = 1; r < extent; ++r) {
      const float* row = x + r * stride + c;
      const vi at = set1i(static_cast<std::int32_t>(r));
#pragma GCC unroll 8
      for (int v = 0; v < kWide; ++v) B::join(best[v], load(row + v * kLanes), at);
    }
#pragma GCC unroll 8
    for (int v = 0; v < kWide; ++v) store_wide(to + c + v * kLanes, best[v].index, kLanes);
  }
  for (; c < count; c += kLanes) {
    const int64_t n = count - c < kLanes ? count - c : kLanes;
    B best;
    B::start(best, load_n(x + c, n));
    for (int64_t r = 1; r < extent; ++r) B::join(best, load_n(x + r * stride + c, n), set1i(static_cast<std::int32_t>(r)));
    store_wide(to + c, best.index, n);
  }
}

template <bool kLargest, bool kLast>
int64_t long_row(const float* x, int64_t extent) {
  using B = Best<kLargest, kLast>;
  alignas(64) std::int32_t lane[kLanes];
  for (int l = 0; l < kLanes; ++l) lane[l] = l;
  alignas(64) float values[kLanes];
  alignas(64) std::int32_t indices[kLanes];
  B best{load(x), loadi(lane)};
  int64_t c = kLanes;
  for (; c + kLanes <= extent; c += kLanes) B::join(best, load(x + c), addi(loadi(lane), set1i(static_cast<std::int32_t>(c))));
  store(values, best.value);
  storei(indices, best.index);
  float value = values[0];
  int64_t index = indices[0];
  for (int l = 1; l < kLanes; ++l) {
    const bool equal = values[l] == value || (values[l] != values[l] && value != value);
    const bool chosen = equal ? (kLast ? indices[l] > index : indices[l] < index) : better<kLargest, kLast>(values[l], value);
    if (chosen) value = values[l], index = indices[l];
  }
  for (; c < extent; ++c)
    if (better<kLargest, kLast>(x[c], value)) value = x[c], index = c;
  return index;
}

template <bool kLargest, bool kLast>
void rows(int64_t* to, const float* x, int64_t stride, int64_t extent, int64_t count) {
  for (int64_t i = 0; i < count; ++i, x += stride) to[i] = long_row<kLargest, kLast>(x, extent);
}

}  // namespace

extern "C" const ArgKernels TENFOLD_TABLE(arg) = {
    .columns = {{columns<false, false>, columns<false, true>}, {columns<true, false>, columns<true, true>}},
    .rows = {{rows<false, false>, rows<false, true>}, {rows<true, false>, rows<true, true>}}};

}  // namespace tenfold::backends::cpu
