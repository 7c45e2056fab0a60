// What the kernels of rows.cu are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// `quantized`: of KIND_QUANTIZE the rows' scales, floats.
struct RowArguments {
  const void* x;
  void* y;
  const void *scale, *bias;
  i64 rows;
  void *bad_index, *quantized;
};
static_assert(sizeof(RowArguments) == 56 && TENFOLD_OFFSET(RowArguments, rows) == 32);

constexpr int kMaxRowTerms = 4;
// With terms: of each its rows, its indices and how many there are (they repeat), and how many rows a table has.
struct RowTermArguments {
  const void *x[kMaxRowTerms], *index[kMaxRowTerms];
  i64 count[kMaxRowTerms], extent[kMaxRowTerms];
  void* y;
  const void *scale, *bias;
  i64 rows;
  void* bad_index;
  void* quantized;
};
static_assert(sizeof(RowTermArguments) == 176 && TENFOLD_OFFSET(RowTermArguments, count) == 64 &&
              TENFOLD_OFFSET(RowTermArguments, y) == 128 && TENFOLD_OFFSET(RowTermArguments, rows) == 152);

}  // namespace tenfold::backends::cuda
