// Printing gather kernels.
#include "backends/cuda/codegen/index/gather.h"

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kKernel = R"(
struct alignas(BYTES) Piece { u8 bytes[BYTES]; };
struct Arguments { const Piece* table; const INDEX* index; Piece* y; i64 outer, extent, count, row; u32* bad_index; };
extern "C" __global__ void __launch_bounds__(THREADS) gather(Arguments a) {
  enter();
  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.outer * a.count * a.row) return;
  const i64 within = i % a.row, r = i / a.row;
  i64 at = (i64)a.index[r % a.count];
  if (at < 0) at += a.extent;
  Piece piece = {};
  if (at >= 0 && at < a.extent) piece = a.table[(r / a.count * a.extent + at) * a.row + within];
  else *a.bad_index = 1;
  a.y[i] = piece;
}
)";

}  // namespace

std::string generate_gather(DType index, int piece_bytes) {
  return cat(prelude(), "#define BYTES ", piece_bytes, "\n#define THREADS ", kGatherThreads, "\n#define INDEX ", storage_type(index), "\n",
             kKernel);
}

}  // namespace tenfold::backends::cuda
