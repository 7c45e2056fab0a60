// Reorders and merges the axes of an iteration space.
#include "backends/cpu/block/space.h"

#include "base/checked.h"

namespace tenfold::backends::cpu {

void Space::add(const Bound& operand) {
  for (int a = 0; a < rank; ++a) {
    const int own = a - (rank - operand.rank);
    stride[operands][a] = own < 0 || operand.dims[own] == 1 ? 0 : operand.strides[own];
  }
  ++operands;
}

void Space::order(int operand, int first, int last) {
  for (int a = first + 1; a < last; ++a) {
    for (int b = a; b > first && stride[operand][b - 1] < stride[operand][b]; --b) {
      std::swap(extent[b - 1], extent[b]);
      for (int o = 0; o < operands; ++o) std::swap(stride[o][b - 1], stride[o][b]);
    }
  }
}

int Space::merge(int first, int last) {
  int kept = first;
  for (int a = first; a < last; ++a) {
    if (extent[a] == 1) continue;
    bool joins = kept > first;
    for (int o = 0; o < operands && joins; ++o) joins = stride[o][kept - 1] == stride[o][a] * extent[a];
    if (joins) {
      extent[kept - 1] *= extent[a];
      for (int o = 0; o < operands; ++o) stride[o][kept - 1] = stride[o][a];
    } else {
      move_axis(a, kept++);
    }
  }
  const int removed = last - kept;
  for (int a = last; a < rank; ++a) move_axis(a, a - removed);
  rank -= removed;
  return kept;
}

Parts::Parts(std::int64_t rows, std::int64_t cols, std::int64_t target, bool whole_rows) {
  if (rows <= 0 || cols <= 0) {
    row_parts = rows > 0 && whole_rows ? 1 : 0;
    rows_per_part = rows;
    return;
  }
  cols_per_part = cols;
  if (!whole_rows && cols > 2 * target) {
    col_parts = ceil_div(cols, target);
    cols_per_part = round_up(ceil_div(cols, col_parts), 64);
    col_parts = ceil_div(cols, cols_per_part);
  } else {
    rows_per_part = std::clamp<std::int64_t>(target / cols, 1, rows);
  }
  row_parts = ceil_div(rows, rows_per_part);
}

}  // namespace tenfold::backends::cpu
