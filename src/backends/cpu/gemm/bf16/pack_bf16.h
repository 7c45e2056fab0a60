// B of a product into what the AMX kernel reads, and back to f32 as the kernel knows them: the nearest bf16, or the sum of two terms.
// Pairs of k lie side by side in 16 columns: 32 values at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "backends/cpu/gemm/bf16/gemm_bf16_b.h"
#include "base/types/half.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cpu {

std::uint16_t round_to_bf16(float value);
// A value's terms, as the kernel splits rows.
struct Bf16Terms { std::uint16_t high, low; };
Bf16Terms split_to_bf16(float value);
float join_bf16(Bf16Terms terms);   // their sum

// 16 columns of two rows of k; what is beyond the matrix is zero.
struct Bf16Pairs {
  static constexpr int kValues = 32;
  std::uint32_t bits[kValues];   // [column][row of two]
  void round(std::uint16_t* to) const;                          // of f32
  void split(std::uint16_t* high, std::uint16_t* low) const;
};

// f(index of 32 values in the packed weights, tap, k, column): k and k + 1, sixteen columns from that one on.
template <class F>
void for_each_pairs(const GemmBf16B& b, F&& f) {
  for (std::int64_t column = 0; column < b.panels() * 32; column += 16)
    for (std::int64_t tap = 0; tap < b.taps; ++tap)
      for (std::int64_t k = 0; k < b.steps() * 32; k += 2) f(b.slot(tap, k, column), tap, k, column);
}
// f(its place among 32, element) of the values that are in the matrix.
template <class Element, class F>
void for_each_of_pairs(const GemmBf16B& b, std::int64_t tap, std::int64_t k, std::int64_t column, Element&& element, F&& f) {
  const std::int64_t columns = std::min<std::int64_t>(b.n - column, 16);
  for (std::int64_t row = 0; row < std::min<std::int64_t>(b.k - k, 2); ++row)
    for (std::int64_t c = 0; c < columns; ++c) f(2 * c + row, element(tap, k + row, column + c));
}

// element(tap, k, column) is a weight's index in `original`.
template <class Element>
void pack_bf16(const GemmBf16B& b, const Tensor& original, void* packed, Element&& element) {
  const bool wide = b.type == DType::f32;
  const auto* const floats = static_cast<const std::uint32_t*>(original.raw());
  const auto* const halves = static_cast<const std::uint16_t*>(original.raw());
  auto* const to = static_cast<std::uint16_t*>(packed);
  if (char* const finite = b.finite(packed)) {
    std::memset(finite, 0, 64);
    const float* const values = original.data<float>();
    *finite = std::all_of(values, values + original.size(), [](float v) { return std::isfinite(v); });
  }
  for_each_pairs(b, [&](std::int64_t slot, std::int64_t tap, std::int64_t k, std::int64_t column) {
    Bf16Pairs pairs = {};
    for_each_of_pairs(b, tap, k, column, element, [&](std::int64_t i, std::int64_t at) {
      pairs.bits[i] = wide ? floats[at] : static_cast<std::uint32_t>(halves[at]) << 16;
    });
    if (b.kept_as_f32()) std::memcpy(static_cast<float*>(packed) + slot, pairs.bits, sizeof pairs.bits);
    else if (b.terms == 2) pairs.split(to + slot, to + slot + b.kTerm);
    else if (wide) pairs.round(to + slot);
    else for (int i = 0; i < Bf16Pairs::kValues; ++i) to[slot + i] = static_cast<std::uint16_t>(pairs.bits[i] >> 16);
  });
}

template <class Element>
void unpack_bf16(const GemmBf16B& b, Tensor& original, const void* packed, Element&& element) {
  const auto* const from = static_cast<const std::uint16_t*>(packed);
  for_each_pairs(b, [&](std::int64_t first, std::int64_t tap, std::int64_t k, std::int64_t column) {
    for_each_of_pairs(b, tap, k, column, element, [&](std::int64_t i, std::int64_t at) {
      const std::int64_t slot = first + i;
      if (b.kept_as_f32()) original.mutable_data<float>()[at] = static_cast<const float*>(packed)[slot];
      else if (b.terms == 2) original.mutable_data<float>()[at] = join_bf16({from[slot], from[slot + b.kTerm]});
      else if (b.type == DType::f32) original.mutable_data<float>()[at] = bf16_to_float(from[slot]);
      else static_cast<std::uint16_t*>(original.mutable_raw())[at] = from[slot];
    });
  });
}
template <class Element>
Tensor unpack_bf16(const GemmBf16B& b, Shape shape, const void* packed, Element&& element) {
  Tensor original(b.type, std::move(shape));
  unpack_bf16(b, original, packed, element);
  return original;
}

}  // namespace tenfold::backends::cpu
