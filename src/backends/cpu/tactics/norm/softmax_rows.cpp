// softmax_rows: softmax along an axis: rows if the axis is innermost, columns in vectors if not.
#include "backends/cpu/kernels/norm/norm.h"
#include "backends/cpu/tactics/row_floats_common.h"
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

using std::int64_t;

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  if (!RowFloats::has(p.in[0].dtype)) return Verdict::no("the operand is neither f32 nor bf16");
  return dense_plain(p);
}

constexpr int64_t kColumns = 64;  // a strip of them goes through the cache together

struct Kernel {
  const NormKernels* kernels;
  RowFloats rows;
  std::int64_t axis;
  SoftmaxForm form;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{&pick(p, tenfold_norm_avx2, tenfold_norm_avx512), RowFloats(p, p.in[0].dtype),
                                         p.attributes->integer("axis"),
                                         {.log = p.op->name == "LogSoftmax", .exact = !p.numerics.fast_exp}});
}
// What is not f32 is computed here: a row, or a strip of columns.
ir::Dim worker_scratch(const Problem& p, const Config&) {
  const ir::Dims& dims = p.in[0].dims;
  if (p.in[0].dtype == DType::f32) return 0;
  return dims[static_cast<std::size_t>(wrapped(p.attributes->integer("axis"), static_cast<int>(dims.size())))] * ir::Dim(kColumns * 4);
}

// `columns` columns of an axis of n elements that lie `inner` apart, from element `at` on.
void columns_of(const Kernel& kernel, const RunArgs& args, int64_t at, int64_t n, int64_t inner, int64_t columns, float* memory) {
  const void* from = args.in[0].data;
  void* to = args.out[0].data;
  if (!kernel.rows.narrow())
    return kernel.kernels->softmax_columns(static_cast<const float*>(from) + at, static_cast<float*>(to) + at, n, inner, columns,
                                           kernel.form);
  for (int64_t i = 0; i < n; ++i) kernel.rows.read(from, at + i * inner, columns, memory + i * columns);
  kernel.kernels->softmax_columns(memory, memory, n, columns, columns, kernel.form);
  for (int64_t i = 0; i < n; ++i) kernel.rows.done(to, at + i * inner, columns, memory + i * columns);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  const int axis = wrapped(kernel.axis, x.rank);
  const int64_t outer = product(x.dims, 0, axis), n = x.dims[axis], inner = product(x.dims, axis + 1, x.rank);
  if (outer * n * inner == 0) return Status::ok;
  if (inner == 1) {
    for_row_parts(*args.parallel, outer, rows_per_part(n * 4), [&](int64_t first, int64_t last, int worker) {
      auto* const memory = args.scratch_of<float>(worker);
      for (int64_t r = first; r < last; ++r) {
        kernel.kernels->softmax(kernel.rows.read(x.data, r * n, n, memory), kernel.rows.place(args.out[0].data, r * n, memory), n,
                                kernel.form);
        kernel.rows.done(args.out[0].data, r * n, n, memory);
      }
    });
    return Status::ok;
  }
  const int64_t strips = (inner + kColumns - 1) / kColumns;
  for_row_parts(*args.parallel, outer * strips, rows_per_part(n * 4 * kColumns), [&](int64_t first, int64_t last, int worker) {
    for (int64_t s = first; s < last; ++s) {
      const int64_t column = s % strips * kColumns;
      columns_of(kernel, args, s / strips * n * inner + column, n, inner, std::min(kColumns, inner - column),
                 args.scratch_of<float>(worker));
    }
  });
  return Status::ok;
}

bool may_alias(const Problem&, int in, int out) { return in == 0 && out == 0; }

}  // namespace

Tactic cpu_softmax_rows() {
  return {.name = "softmax_rows",
          .ops = {"Softmax", {"LogSoftmax", "log_softmax_rows"}},
          .supports = supports,
          .configs = one_config,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .cases = {"Softmax f32[37,1003](-30,30)",
                    "Softmax f32[9,130](-43,43)",  // to the least that f32 holds
                    "Softmax f32[3,70,203](-30,30) axis=1",
                    "Softmax f32[2,40000](-30,30)",
                    "LogSoftmax f32[37,1003](-30,30)",
                    "LogSoftmax f32[3,70,203](-30,30) axis=1",
                    "LogSoftmax f32[2,40000](-30,30)",
                    "LogSoftmax f32[300,65](-30,30) axis=0"}};
}

}  // namespace tenfold::backends
