// Printing slices: a thread for each element of the result.
#include "backends/cuda/codegen/move/slice.h"

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kKernel = R"(
struct Arguments { const ELEMENT* x; const INDEX *starts, *axes, *steps; ELEMENT* y; i64 count, elements, xd[8], xs[8], yd[8]; };
extern "C" __global__ void __launch_bounds__(THREADS) slice(const Arguments a) {
  enter();
  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.elements) return;
  i64 rest = i, from = 0;
  #pragma unroll
  for (int d = RANK - 1; d >= 0; --d) {
    i64 start = 0, step = 1;
    for (int s = 0; s < (int)a.count; ++s) {
      i64 axis = a.axes ? (i64)a.axes[s] : s;
      if (axis < 0) axis += RANK;
      if (axis != d) continue;
      step = a.steps ? (i64)a.steps[s] : 1;
      start = (i64)a.starts[s];
      if (start < 0) start += a.xd[d];
      start = max((i64)0, min(start, step < 0 ? a.xd[d] - 1 : a.xd[d]));
    }
    from += (start + rest % a.yd[d] * step) * a.xs[d];
    rest /= a.yd[d];
  }
  a.y[i] = a.x[from];
}
)";

}  // namespace

std::string generate_slice(DType index, int element_bytes, int rank) {
  const char* element = element_bytes == 1 ? "u8" : element_bytes == 2 ? "u16" : element_bytes == 4 ? "u32" : "u64";
  return cat(prelude(), "#define ELEMENT ", element, "\n#define INDEX ", storage_type(index), "\n#define RANK ", rank, "\n#define THREADS ",
             kSliceThreads, "\n", kKernel);
}

}  // namespace tenfold::backends::cuda
