// matmul_mma: activations times a constant matrix on tensor cores, with any epilogue.
#include "backends/cuda/tactics/mma_common.h"
#include "backends/cuda/tactics/pack_matrix_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

bool by_column(const OperandDesc& o, const OperandDesc& y) {
  return !o.dims.empty() && o.dims.back() == y.dims.back() && ir::product(o.dims) == y.dims.back();
}

Verdict supports(const Problem& p) {
  if (Verdict v = mma_types(p); !v) return v;
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (!b.constant || b.dims.size() != 2) return Verdict::no("the right operand is not one constant matrix");
  if (a.dims.size() < 2 || y.dims.size() != a.dims.size())
    return Verdict::no("the left operand is a vector, or the epilogue enlarges the result");
  for (const OperandDesc* o : {&a, &y})
    if (!o->dense || (o->layout != kPlain && !same_as_plain(o->layout, o->dims))) return Verdict::no("an operand is not dense and plain");
  for (std::size_t d = 0; d + 1 < a.dims.size(); ++d)
    if (!(a.dims[d] == y.dims[d])) return Verdict::no("the epilogue enlarges the result");
  if (!(y.dims.back() == b.dims[1]) || b.dims[0].constant() < 1 || b.dims[1].constant() < 1)
    return Verdict::no("the result has another width");
  Tail tail;
  return match_any_tail(p, by_column, -1, tail);
}

int64_t likely_rows(const Problem& p) {
  int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < p.in[0].dims.size(); ++d) rows *= std::clamp<int64_t>(p.bounds(p.in[0].dims[d]).upper, 1, 1 << 14);
  return std::min<int64_t>(rows, 1 << 24);
}
std::vector<Config> configs(const Problem& p) {
  return mma_configs(p, likely_rows(p), p.in[1].dims[1].constant(), p.in[1].dims[0].constant());
}

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  Tail tail;
  match_any_tail(p, by_column, -1, tail);
  GemmProblem gemm;
  gemm.n = p.in[1].dims[1].constant(), gemm.k = p.in[1].dims[0].constant();
  return std::make_shared<MmaKernel>(p, std::move(gemm), std::move(tail), c);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  int64_t m = 1;
  for (int d = 0; d + 1 < args.in[0].rank; ++d) m *= args.in[0].dims[d];
  return static_cast<const MmaKernel*>(self)->run(args, m);
}

double work(const Problem& p) {
  return 2.0 * static_cast<double>(likely_rows(p)) * static_cast<double>(p.in[1].dims[0].constant() * p.in[1].dims[1].constant());
}

}  // namespace

Tactic cuda_matmul_mma() {
  return {.name = "matmul_mma",
          .op = "MatMul",
          .supports = supports,
          .configs = configs,
          .valid = mma_valid,
          .packed_bytes = packed_matrix_bytes,
          .pack = pack_matrix,
          .unpack = unpack_matrix,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
