// matmul_integer_elements: MatMulInteger with zero points of both sides and weights that are no constants, a thread for each element.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
// A zero point: none, one for all, or one for each row or column.
template <class T> __device__ __forceinline__ int zero_at(const Operand& o, i64 i) {
  return (int)((const T*)o.p)[o.d[0] > 1 ? i * o.s[0] : 0];
}
RULE(element) {
  constexpr int kA = RANK0 < 2 ? 0 : RANK0 - 2, kB = RANK1 < 2 ? 0 : RANK1 - 2, kRow = RANK0 > 1, kColumn = RANK1 > 1;
  constexpr int kBatch = RANKY0 - kRow - kColumn;
  i64 at[8], left = 0, right = 0;
  places<RANKY0>(a.out[0], i, at);
  #pragma unroll
  for (int d = 0; d < kBatch; ++d) {
    const int l = d - (kBatch - kA), r = d - (kBatch - kB);
    if (l >= 0 && a.in[0].d[l] != 1) left += at[d] * a.in[0].s[l];
    if (r >= 0 && a.in[1].d[r] != 1) right += at[d] * a.in[1].s[r];
  }
  const i64 row = kRow ? at[kBatch] : 0, column = kColumn ? at[kBatch + kRow] : 0;
  if (kRow) left += row * a.in[0].s[kA];
  if (kColumn) right += column * a.in[1].s[kB + 1];
  const T0* x = (const T0*)a.in[0].p + left;
  const T1* w = (const T1*)a.in[1].p + right;
  int x_zero = 0, w_zero = 0, sum = 0;
#if OWN2
  x_zero = RANK2 > 0 ? zero_at<T2>(a.in[2], row) : (int)*(const T2*)a.in[2].p;
#endif
#if OWN3
  w_zero = RANK3 > 0 ? zero_at<T3>(a.in[3], column) : (int)*(const T3*)a.in[3].p;
#endif
  const i64 length = a.in[0].d[RANK0 - 1], x_step = a.in[0].s[RANK0 - 1], w_step = a.in[1].s[kB];
  #pragma unroll 4
  for (i64 k = 0; k < length; ++k) sum += ((int)x[k * x_step] - x_zero) * ((int)w[k * w_step] - w_zero);
  finish(a, at, sum);
}
)";

Verdict supports(const Problem& p) {
  if (p.in[0].dims.empty() || p.in[1].dims.empty()) return Verdict::no("an operand is a scalar");
  if (p.in[1].constant && !own(p, 3) && p.in[1].dims.size() == 2 && (!own(p, 2) || ir::product(p.in[2].dims) == ir::Dim(1)))
    return Verdict::no("matrix units compute it");
  for (std::size_t i = 2; i < 4; ++i)
    if (given(p, i) && p.in[i].dims.size() > 1) return Verdict::no("zero points of more than one dim");
  const auto extent = [](const ir::Dims& dims, std::size_t from_end) {
    return dims.size() >= from_end ? dims[dims.size() - from_end] : ir::Dim(1);
  };
  if (own(p, 2) && !p.in[2].dims.empty() && p.in[2].dims[0] != ir::Dim(1) && p.in[2].dims[0] != extent(p.in[0].dims, 2))
    return Verdict::no("zero points are not one for each row");
  if (own(p, 3) && !p.in[3].dims.empty() && p.in[3].dims[0] != ir::Dim(1) && p.in[3].dims[0] != p.in[1].dims.back())
    return Verdict::no("zero points are not one for each column");
  if (p.in[0].dims.back() != p.in[1].dims[p.in[1].dims.size() > 1 ? p.in[1].dims.size() - 2 : 0])
    return Verdict::no("rows and columns may differ in length");
  if (Verdict v = keeps_extents(p, p.body ? product_extents(p) : p.out[0].dims); !v) return v;
  return can_generate_threads(p, true);
}

std::shared_ptr<const void> open(const Problem& p, const Config&) { return std::make_shared<OpenThreads>(p, "", kRule); }

}  // namespace

Tactic cuda_matmul_integer_elements() {
  return {.name = "matmul_integer_elements",
          .op = "MatMulInteger",
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
