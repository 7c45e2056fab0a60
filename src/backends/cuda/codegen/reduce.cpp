// Printing reduction kernels.
#include "backends/cuda/codegen/reduce.h"

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr const char* kKernels = R"(
struct Arguments { const IN* x; OUT* y; i64 results, length, kept_axes, reduced_axes, kept[AXES], x_kept[AXES], y_kept[AXES];
                   i64 reduced[AXES], x_reduced[AXES], wide; };
// Axes are joined as far as possible, so mostly there is one; the outermost needs no remainder.
__device__ __forceinline__ i64 place(i64 i, int axes, const i64* extents, const i64* strides) {
  i64 at = 0;
  for (int a = AXES - 1; a > AXES - axes; --a) {
    const u32 e = (u32)extents[a];
    at += (i64)((u32)i % e) * strides[a];
    i = (u32)i / e;
  }
  return axes > 0 ? at + i * strides[AXES - axes] : 0;
}
__device__ __forceinline__ float element(const IN* x) { const float e = LOAD(*x); return MAP; }
__device__ __forceinline__ void finish(OUT* y, float r, i64 length) { const float f = FINISH; *y = STORE(f); }
extern "C" __global__ void __launch_bounds__(32 * ROWS) rows(Arguments a) {
  enter();
  const i64 i = (i64)blockIdx.x * ROWS + threadIdx.x / 32;
  if (i >= a.results) return;
  const IN* x = a.x + place(i, (int)a.kept_axes, a.kept, a.x_kept);
  float r = START;
  constexpr int kVector = 16 / sizeof(IN);
  if (a.wide) {   // the row lies together: 16 bytes at once
    struct alignas(16) Piece { IN elements[kVector]; };
    #pragma unroll 4
    for (i64 k = threadIdx.x % 32 * kVector; k < a.length; k += 32 * kVector) {
      const Piece piece = *(const Piece*)(x + k);
      #pragma unroll
      for (int v = 0; v < kVector; ++v) r = OP::apply(r, element(piece.elements + v));
    }
  } else {
    for (i64 k = threadIdx.x % 32; k < a.length; k += 32)
      r = OP::apply(r, element(x + place(k, (int)a.reduced_axes, a.reduced, a.x_reduced)));
  }
  r = over_warp<OP>(r);
  if (threadIdx.x % 32 == 0) finish(a.y + place(i, (int)a.kept_axes, a.kept, a.y_kept), r, a.length);
}
extern "C" __global__ void __launch_bounds__(32 * LANES) columns(Arguments a) {
  enter();
  __shared__ float room[LANES][33];
  const int column = threadIdx.x % 32, lane = threadIdx.x / 32;
  const i64 i = (i64)blockIdx.x * 32 + column;
  float r = START;
  if (i < a.results) {
    const IN* x = a.x + place(i, (int)a.kept_axes, a.kept, a.x_kept);
    for (i64 k = lane; k < a.length; k += LANES) r = OP::apply(r, element(x + place(k, (int)a.reduced_axes, a.reduced, a.x_reduced)));
  }
  room[lane][column] = r;
  __syncthreads();
  if (lane > 0 || i >= a.results) return;
  for (int l = 1; l < LANES; ++l) r = OP::apply(r, room[l][column]);
  finish(a.y + place(i, (int)a.kept_axes, a.kept, a.y_kept), r, a.length);
}
)";

}  // namespace

std::string generate_reduce(ReduceKind kind, DType in, DType out) {
  std::string head;
  const auto define = [&](const char* name, const auto& value) { head += cat("#define ", name, " ", value, "\n"); };
  const bool max = kind == ReduceKind::max, min = kind == ReduceKind::min;
  define("IN", storage_type(in)), define("OUT", storage_type(out)), define("AXES", kReduceAxes), define("ROWS", kReduceRowsPerBlock),
      define("LANES", kReduceLanes);
  define("LOAD(e)", loaded(in, "(e)")), define("STORE(f)", stored(out, "(f)"));
  define("OP", max ? "Max" : min ? "Min" : "Sum"), define("START", max ? "-INFINITY_F" : min ? "INFINITY_F" : "0.f");
  define("MAP", kind == ReduceKind::absolutes ? "fabsf(e)" : kind == ReduceKind::squares || kind == ReduceKind::norm ? "e * e" : "e");
  define("FINISH", kind == ReduceKind::mean ? "r / (float)length" : kind == ReduceKind::norm ? "sqrtf(r)" : "r");
  return cat(prelude(), head, kKernels);
}

}  // namespace tenfold::backends::cuda
