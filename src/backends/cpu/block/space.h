// Space: the iteration space that several operands share, as rows of columns. Axes are reordered and merged at run time, on the
// stack, so that any layout on which the operands agree becomes one long row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/block/epilogue.h"

namespace tenfold::backends::cpu {

struct Space {
  static constexpr int kMaxOperands = BlockExecutor::kMaxInputs + BlockExecutor::kMaxOutputs;
  int rank = 0, operands = 0;
  std::int64_t extent[kMaxRank] = {};                // outermost first
  std::int64_t stride[kMaxOperands][kMaxRank] = {};  // elements; 0 where an operand is broadcast

  Space(const std::int64_t* dims, int dims_rank) : rank(dims_rank) { std::copy(dims, dims + dims_rank, extent); }
  void add(const Bound& operand);  // its dims are aligned to the right, extents of 1 broadcast
  // Orders axes [first, last) so that `operand` is walked with falling strides.
  void order(int operand, int first, int last);
  // Drops axes of extent 1 and merges neighbors that every operand walks in one stride, within [first, last). Returns the new last.
  int merge(int first, int last);

  std::int64_t count(int first, int last) const {
    std::int64_t n = 1;
    for (int a = first; a < last; ++a) n *= extent[a];
    return n;
  }
  // f(offsets, n): runs of n rows along axis `axes - 1` that together are rows [begin, end) of axes [0, axes).
  template <class F>
  void for_runs(int axes, std::int64_t begin, std::int64_t end, F&& f) const {
    if (begin >= end) return;
    std::int64_t offsets[kMaxOperands] = {}, index[kMaxRank], rest = begin;
    for (int a = axes; a-- > 0; rest /= extent[a]) {
      index[a] = rest % extent[a];
      for (int o = 0; o < operands; ++o) offsets[o] += index[a] * stride[o][a];
    }
    if (axes == 0) return f(offsets, end - begin);
    for (std::int64_t row = begin, n;; row += n) {
      n = std::min(end - row, extent[axes - 1] - index[axes - 1]);
      f(offsets, n);
      if (row + n == end) return;
      advance(axes - 1, n, index, offsets);
      for (int a = axes - 1; index[a] == extent[a]; --a) {
        advance(a, -extent[a], index, offsets);
        advance(a - 1, 1, index, offsets);
      }
    }
  }
  std::int64_t row_stride(int operand, int axes) const { return axes > 0 ? stride[operand][axes - 1] : 0; }

 private:
  void advance(int axis, std::int64_t steps, std::int64_t* index, std::int64_t* offsets) const {
    index[axis] += steps;
    for (int o = 0; o < operands; ++o) offsets[o] += steps * stride[o][axis];
  }
  void move_axis(int from, int to) {  // copies, does not swap
    extent[to] = extent[from];
    for (int o = 0; o < operands; ++o) stride[o][to] = stride[o][from];
  }
};

// How rows of `cols` elements are shared out: parts of about `target` elements, from the problem alone.
struct Parts {
  std::int64_t rows_per_part = 1, cols_per_part = 1, row_parts = 1, col_parts = 1;
  Parts(std::int64_t rows, std::int64_t cols, std::int64_t target, bool whole_rows);
  std::int64_t count() const { return row_parts * col_parts; }
};

}  // namespace tenfold::backends::cpu
