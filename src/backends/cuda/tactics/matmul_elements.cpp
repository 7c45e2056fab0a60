// matmul_elements: MatMul of any types, a thread for each element of the result: where no library is and no matrix unit helps.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(element) {
  // Vectors have one dim less than the result would have; batches are broadcast from the right.
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
  if (kRow) left += at[kBatch] * a.in[0].s[kA];
  if (kColumn) right += at[kBatch + kRow] * a.in[1].s[kB + 1];
  const T0* x = (const T0*)a.in[0].p + left;
  const T1* w = (const T1*)a.in[1].p + right;
  const i64 length = a.in[0].d[RANK0 - 1], x_step = a.in[0].s[RANK0 - 1], w_step = a.in[1].s[kB];
  SUM sum = 0;
  #pragma unroll 4
  for (i64 k = 0; k < length; ++k) sum += (SUM)LOAD0(x[k * x_step]) * (SUM)LOAD1(w[k * w_step]);
  finish(a, at, sum);
}
)";

Verdict supports(const Problem& p) {
  for (const OperandDesc* o : {&p.in[0], &p.in[1], &p.out[0]})
    if (!has_c_type(o->dtype)) return Verdict::no(cat("an operand is ", name(o->dtype)));
  if (p.in[0].dims.empty() || p.in[1].dims.empty()) return Verdict::no("an operand is a scalar");
  if (p.in[1].constant && bits(p.in[0].dtype) == 16) return Verdict::no("matrix units compute it");
  if (p.in[0].dims.back() != p.in[1].dims[p.in[1].dims.size() > 1 ? p.in[1].dims.size() - 2 : 0])
    return Verdict::no("rows and columns may differ in length");
  if (Verdict v = keeps_extents(p, p.body ? product_extents(p) : p.out[0].dims); !v) return v;
  return can_generate_threads(p, true);
}

std::shared_ptr<const void> open(const Problem& p, const Config&) { return std::make_shared<OpenThreads>(p, sum_define(p), kRule); }

}  // namespace

Tactic cuda_matmul_elements() {
  return {
      .name = "matmul_elements", .op = "MatMul", .supports = supports, .configs = one_config, .open = open, .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
