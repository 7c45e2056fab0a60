// Softmax along an axis: rows if the axis is innermost, columns in vectors if not.
#include "backends/cpu/tactics/softmax_common.h"

#include "backends/cpu/kernels/norm.h"
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  return dense_plain_f32(p);
}

struct Kernel {
  const NormKernels* kernels;
  std::int64_t axis;
  bool log;
};
std::shared_ptr<const void> open(const Problem& p, const Config&) {
  return std::make_shared<Kernel>(
      Kernel{&pick(p, tenfold_norm_avx2, tenfold_norm_avx512), p.attributes->integer("axis"), p.op->name == "LogSoftmax"});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  if (x.rank == 0) {
    *args.out[0].as<float>() = kernel.log ? 0.f : 1.f;
    return Status::ok;
  }
  const int axis = wrapped(kernel.axis, x.rank);
  const int64_t outer = product(x.dims, 0, axis), n = x.dims[axis], inner = product(x.dims, axis + 1, x.rank);
  const float* from = x.as<const float>();
  float* to = args.out[0].as<float>();
  if (outer * n * inner == 0) return Status::ok;
  if (inner == 1) {
    for_row_parts(*args.parallel, outer, rows_per_part(n * 4), [&](int64_t first, int64_t last, int) {
      for (int64_t r = first; r < last; ++r) kernel.kernels->softmax(from + r * n, to + r * n, n, kernel.log);
    });
    return Status::ok;
  }
  constexpr int64_t kColumns = 64;  // a strip of them goes through the cache together
  const int64_t strips = (inner + kColumns - 1) / kColumns;
  for_row_parts(*args.parallel, outer * strips, rows_per_part(n * 4 * kColumns), [&](int64_t first, int64_t last, int) {
    for (int64_t s = first; s < last; ++s) {
      const int64_t column = s % strips * kColumns, at = s / strips * n * inner + column;
      kernel.kernels->softmax_columns(from + at, to + at, n, inner, std::min(kColumns, inner - column), kernel.log);
    }
  });
  return Status::ok;
}

bool may_alias(const Problem&, int in, int out) { return in == 0 && out == 0; }

}  // namespace

Tactic softmax_tactic(const char* name, const char* op) {
  return {.name = name, .op = op, .supports = supports, .configs = one_config, .open = open, .run = run, .may_alias = may_alias};
}

}  // namespace tenfold::backends::cpu
