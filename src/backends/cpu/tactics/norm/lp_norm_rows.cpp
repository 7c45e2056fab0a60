// lp_norm_rows: LpNormalization of f32 along the innermost axis: the norm of each row by the kernels of reductions, then the row over it.
#include <cmath>

#include "backends/cpu/kernels/pool/pool.h"
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

struct Kernel {
  float (*sum)(const float*, int64_t);
  bool absolute;
};
Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  const auto rank = static_cast<int>(p.in[0].dims.size());
  if (rank == 0 || wrapped(p.attributes->integer("axis"), rank) != rank - 1) return Verdict::no("the axis is not the innermost one");
  return dense_plain_f32(p);
}
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  const bool absolute = p.attributes->integer("p") == 1;
  const auto kind = static_cast<int>(absolute ? Reduce::absolutes : Reduce::squares);
  return std::make_shared<Kernel>(Kernel{pick(p, tenfold_reduce_avx2, tenfold_reduce_avx512).f32.row[kind], absolute});
}

// Whether a sum in float32 has neither overflowed nor lost small squares. NaN is not.
bool in_range(float sum) { return sum > 1e-30f && sum < 1e37f; }
double exact_norm(const float* x, int64_t width, bool absolute) {
  double sum = 0;
  for (int64_t c = 0; c < width; ++c) sum += absolute ? std::fabs(static_cast<double>(x[c])) : static_cast<double>(x[c]) * x[c];
  return absolute ? sum : std::sqrt(sum);
}

// A row of zeros stays zeros.
void divide(float* to, const float* from, float norm, int64_t width) {
  constexpr int64_t kBlock = 16;   // a count that the compiler knows, so that it makes vectors of it
  const float divisor = norm == 0 ? 1.f : norm;
  int64_t c = 0;
  for (; c + kBlock <= width; c += kBlock)
    for (int64_t i = 0; i < kBlock; ++i) to[c + i] = from[c + i] / divisor;
  for (; c < width; ++c) to[c] = from[c] / divisor;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  const int64_t width = x.dims[x.rank - 1];
  for_row_parts(*args.parallel, product(x.dims, 0, x.rank - 1), rows_per_part(width * 2), [&](int64_t first, int64_t last, int) {
    for (int64_t r = first; r < last; ++r) {
      const float* const from = x.as<const float>() + r * width;
      const float sum = kernel.sum(from, width);
      const double norm = !in_range(sum)    ? exact_norm(from, width, kernel.absolute)
                          : kernel.absolute ? sum
                                            : std::sqrt(static_cast<double>(sum));
      divide(args.out[0].as<float>() + r * width, from, static_cast<float>(norm), width);
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_lp_norm_rows() {
  return {.name = "lp_norm_rows",
          .ops = {"LpNormalization"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"LpNormalization f32[30,200]", "LpNormalization f32[4,9,70] axis=-1 p=1", "LpNormalization f32[1,5]{0,0,0,0,0}"}};
}

}  // namespace tenfold::backends
