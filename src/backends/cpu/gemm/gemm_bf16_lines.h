// Where rows of a bf16 product lie, and which of them are results.
#pragma once

#include <algorithm>

#include "backends/cpu/gemm/gemm_bf16.h"

namespace tenfold::backends::cpu {

struct RowsOfTile {
  const char* first = nullptr;
  std::int64_t bytes = 0;   // from one to the next
};

// A tile of `count` rows from `row` on; what the last one holds beyond the rows may be anything.
inline RowsOfTile rows_of_tile(const GemmBf16Rows& rows, std::int64_t segment, std::int64_t row, std::int64_t count) noexcept {
  if (rows.last != nullptr && row + count > rows.count) return {rows.last, rows.last_bytes};
  const std::int64_t line = rows.line_bytes == 0 ? 0 : row / rows.line;
  return {rows.a + segment * rows.segment_bytes + line * rows.line_bytes + (row - line * rows.line) * rows.row_bytes, rows.row_bytes};
}

// f(rows of C, index of the first one) for the results among `count` rows from `row` on, line by line.
template <class F>
void for_each_line(const GemmBf16Rows& rows, std::int64_t segment, std::int64_t row, std::int64_t count, F&& f) noexcept {
  const std::int64_t last = std::min(row + count, rows.count);
  for (std::int64_t r = row; r < last;) {
    const std::int64_t y = r / rows.pitch, x = r - y * rows.pitch;
    if (x >= rows.line) {
      r = (y + 1) * rows.pitch;
      continue;
    }
    const std::int64_t n = std::min(rows.line - x, last - r);
    f(Bf16Epilogue::Rows{rows.first_out + segment * rows.segment_out + y * rows.line_out + x * rows.step_out, n, rows.step_out}, r - row);
    r += n;
  }
}

}  // namespace tenfold::backends::cpu
