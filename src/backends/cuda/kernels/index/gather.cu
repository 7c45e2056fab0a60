// Rows of a table by index, a thread for each piece. An index outside gives zeros and sets bad_index: the device cannot end a run.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/index/gather.cpp prints those of a problem
#define BYTES 16             // of a piece
#define THREADS 256
#define INDEX i64
#endif

#include "backends/cuda/kernels/index/gather_args.h"

using namespace tenfold::backends::cuda;

struct alignas(BYTES) Piece { u8 bytes[BYTES]; };
extern "C" __global__ void __launch_bounds__(THREADS) gather(GatherArguments a) {
  enter();
  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.outer * a.count * a.row) return;
  const i64 within = i % a.row, r = i / a.row;
  i64 at = (i64)((const INDEX*)a.index)[r % a.count];
  if (at < 0) at += a.extent;
  Piece piece = {};
  if (at >= 0 && at < a.extent) piece = ((const Piece*)a.table)[(r / a.count * a.extent + at) * a.row + within];
  else *a.bad_index = 1;
  ((Piece*)a.y)[i] = piece;
}
