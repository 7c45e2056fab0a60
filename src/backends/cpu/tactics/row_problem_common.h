// What tactics on rows and on movement share: checks of operands in words, and choice of a kernel table.
#pragma once

#include "backends/cpu/block/epilogue.h"
#include "backends/tactic.h"
#include "ir/op_def.h"

namespace tenfold::backends::cpu {

// The table of this device's instruction set.
template <class Table>
const Table& pick(const Problem& p, const Table& avx2, const Table& avx512) {
  return p.device->features & kAvx512 ? avx512 : avx2;
}
inline Verdict needs_avx2(const Problem& p) { return Verdict::only_if(p.device->features & kAvx2, "needs avx2"); }

// Operands [0, count) and all outputs are f32, dense and plain.
Verdict dense_plain_f32(const Problem& p);
// Every operand and output is dense and plain.
Verdict dense_plain(const Problem& p);
// The problem has no body.
inline Verdict no_epilogue(const Problem& p) { return Verdict::only_if(p.body == nullptr, "no epilogue is possible"); }
// A negative axis wrapped; the caller has checked that it lies within.
inline int wrapped(std::int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }
inline std::int64_t product(const std::int64_t* dims, int first, int last) {
  std::int64_t n = 1;
  for (int a = first; a < last; ++a) n *= dims[a];
  return n;
}

// Rows that a part of a parallel loop takes, so that a part has about 16 Ki elements: from the problem alone.
inline std::int64_t rows_per_part(std::int64_t row_elements) {
  return row_elements >= (16 << 10) ? 1 : (16 << 10) / (row_elements > 0 ? row_elements : 1);
}
// f(first, last, worker) over parts of [0, rows), of about `max_rows` rows: a multiple of four of them as even as can be, for few workers.
template <class F>
void for_row_parts(Parallel& parallel, std::int64_t rows, std::int64_t max_rows, F&& f) {
  if (rows <= max_rows) {
    if (rows > 0) f(std::int64_t{0}, rows, 0);
    return;
  }
  const std::int64_t requested = ((rows + max_rows - 1) / max_rows + 3) / 4 * 4, per_part = (rows + requested - 1) / requested;
  const std::int64_t parts = (rows + per_part - 1) / per_part;
  parallel.for_each(parts, [&](std::int64_t part, int worker) {
    const std::int64_t first = part * per_part;
    f(first, rows - first < per_part ? rows : first + per_part, worker);
  });
}

inline std::vector<Config> one_config(const Problem&) { return {{0}}; }

}  // namespace tenfold::backends::cpu
