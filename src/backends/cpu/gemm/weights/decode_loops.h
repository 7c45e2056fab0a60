// The loops that multiply with integer weights in floating point, for rows of values that fixed point cannot hold. Whoever sends a request
// decides whether there are such rows, so that these loops must not be much slower than the kernels of all others.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "backends/cpu/gemm/weights/scaled_columns.h"

namespace tenfold::backends::cpu {

struct DecodeLoops {
  static constexpr int kLine = 16, kColumns = 32, kDepth = 32, kMaxRows = 12;
  // Weights of 16 columns in rows of k, which are in one block of 16.
  struct Line {
    const char* from;      // the integers of the first row, or of the first four
    std::int64_t stride;   // in bytes, from a row's to the next; not of tiles
    int at;                // the first row in its four (tiles), or which of a pair's two all rows are
    int rows;
    const float *step, *balance;
    int largest;           // integers beyond stand for Inf and NaN, and all others for finite floats; 0: there are none
    double* to;            // rows are kColumns apart
  };
  void (*pairs)(const Line& line), (*tiles)(const Line& line), (*bytes)(const Line& line);
  // sums[row][column] += rows[row][first + i] * weights[i][column], of i up to `depth`
  struct Product {
    const float* const* rows;
    int count;
    std::int64_t first, depth;
    const double* weights;
    double* sums;
  };
  void (*add)(const Product& product);
};

const DecodeLoops& portable_decode_loops();
const DecodeLoops& decode_loops();   // this processor's: weights are the same bits

// Calls `loop` for the weights in rows [first, last) of k and columns [column, column + 32). `line_of` gives the integers, for a row of k
// and its first column, a multiple of 16. Columns behind `end`, a multiple of 16, are zeros.
template <class LineOf>
void decode_lines(void (*loop)(const DecodeLoops::Line&), std::int64_t first, std::int64_t last, std::int64_t column, std::int64_t end,
                  double* to, LineOf&& line_of) {
  for (int half = 0; half < 2; ++half) {
    const std::int64_t n = column + half * DecodeLoops::kLine;
    double* at = to + half * DecodeLoops::kLine;
    for (std::int64_t k = first, next; k < last; at += (next - k) * DecodeLoops::kColumns, k = next) {
      next = std::min(last, k / 16 * 16 + 16);
      if (n >= end)
        for (std::int64_t i = 0; i < next - k; ++i) std::fill_n(at + i * DecodeLoops::kColumns, DecodeLoops::kLine, 0.0);
      else {
        DecodeLoops::Line line = line_of(k, n);
        line.rows = static_cast<int>(next - k), line.to = at;
        loop(line);
      }
    }
  }
}

inline bool all_finite(const float* values, std::int64_t count) {
  constexpr std::int32_t kInfinity = 0x7f800000;
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::bit_cast<std::int32_t>(values[i]) & 0x7fffffff);
  return largest < kInfinity;
}

// sums[row][32 columns] += the product of `count` rows with weights of these columns. If each row has an Inf or NaN and all weights are
// finite, finite products change nothing: they are left out, and so is what follows sums that are all NaN.
template <class Weights>
void add_decoded(const Weights& weights, const void* packed, std::int64_t column, const float* const* rows, std::int64_t count,
                 double* sums) noexcept {
  static_assert(Weights::kPanel == DecodeLoops::kColumns);
  double decoded[DecodeLoops::kDepth * DecodeLoops::kColumns];
  const auto any_finite = [&](std::int64_t first, std::int64_t depth) {
    return std::any_of(rows, rows + count, [&](const float* row) { return all_finite(row + first, depth); });
  };
  const auto only_finite = [&](std::int64_t first, std::int64_t depth) {
    return std::all_of(rows, rows + count, [&](const float* row) { return all_finite(row + first, depth); });
  };
  const bool special = weights.ordinary(packed) && !any_finite(0, weights.k());
  for (std::int64_t first = 0; first < weights.k(); first += DecodeLoops::kDepth) {
    const std::int64_t depth = std::min<std::int64_t>(DecodeLoops::kDepth, weights.k() - first);
    if (special && only_finite(first, depth)) continue;
    weights.decode(packed, first, first + depth, column, decoded);
    decode_loops().add({rows, static_cast<int>(count), first, depth, decoded, sums});
    if (special && std::all_of(sums, sums + count * Weights::kPanel, [](double sum) { return std::isnan(sum); })) return;
  }
}

}  // namespace tenfold::backends::cpu
