// The blocked bf16 product around the AMX kernel: rows given by pointers are rounded to bf16 once per block.
#pragma once

#include "backends/cpu/gemm/gemm_f32.h"
#include "backends/cpu/kernels/gemm_bf16.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

inline const GemmBf16Kernels& gemm_bf16_kernels() { return tenfold_gemm_bf16_amx; }

// Whether a node may compute in bf16 (the precision stage says so) on this machine.
Verdict bf16_permitted(const Problem& problem);

// B of (taps * k) x n as pairs of k for AMX; the original f32 values stand behind, for rounding cannot be undone.
struct GemmBf16Weights {
  std::int64_t taps = 1, k = 0, n = 0;
  std::int64_t depth() const { return round_up(taps * k, 32); }
  std::int64_t panels() const { return ceil_div(n, 32); }
  std::int64_t values() const { return panels() * 32 * depth(); }
  std::int64_t slot(std::int64_t tap, std::int64_t i, std::int64_t column) const {
    const std::int64_t at = tap * k + i;
    return column / 32 * 32 * depth() + at / 32 * 1024 + column % 32 / 16 * 512 + at % 32 / 2 * 32 + column % 16 * 2 + at % 2;
  }
  std::int64_t bytes() const { return values() * 2 + taps * k * n * 4; }
};
// `original`: the weight; element(tap, k, column) is its index there.
template <class Element>
void pack_bf16(const GemmBf16Weights& w, const Tensor& original, void* packed, Element&& element);
Tensor unpack_bf16(const GemmBf16Weights& w, Shape shape, const void* packed);

// Memory of a lane: parts are dealt to lanes, each with rows of its own.
struct GemmBf16Rows {
  std::int64_t stride = 0;  // in values; an odd number of cache lines, so that rows spread over the cache
  std::int64_t bytes = 0;
  GemmBf16Rows(const GemmBf16Weights& w, std::int64_t rows) : stride(w.depth() + 32), bytes(round_up(rows, 32) * stride * 2) {}
};

struct GemmBf16Block {
  const float* const* table = nullptr;  // [row][tap]
  std::int64_t rows = 0, row = 0, first_panel = 0, last_panel = 0, column = 0;
  std::int64_t offset = 0;  // elements added to every pointer
  float* c = nullptr;
  std::int64_t c_stride = 0;
};
void gemm_bf16_block(const GemmBf16Weights& w, const void* packed, const GemmBf16Block& block, std::uint16_t* rows, const F32End& end,
                     const F32End::Binding& bound, void* scratch) noexcept;

std::uint16_t round_to_bf16(float value);

template <class Element>
void pack_bf16(const GemmBf16Weights& w, const Tensor& original, void* packed, Element&& element) {
  auto* to = static_cast<std::uint16_t*>(packed);
  const float* from = original.data<float>();
  std::fill(to, to + w.values(), std::uint16_t{0});
  for (std::int64_t tap = 0; tap < w.taps; ++tap)
    for (std::int64_t k = 0; k < w.k; ++k)
      for (std::int64_t n = 0; n < w.n; ++n) to[w.slot(tap, k, n)] = round_to_bf16(from[element(tap, k, n)]);
  std::copy(from, from + original.size(), reinterpret_cast<float*>(to + w.values()));
}

}  // namespace tenfold::backends::cpu
