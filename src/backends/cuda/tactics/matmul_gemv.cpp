// matmul_gemv: few rows times a constant matrix, with any epilogue; the configuration is the rows of a block.
#include "backends/cuda/codegen/gemv.h"
#include "backends/cuda/tactics/mma_common.h"
#include "backends/cuda/tactics/pack_matrix_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

bool by_column(const OperandDesc& o, const OperandDesc& y) {
  return !o.dims.empty() && o.dims.back() == y.dims.back() && ir::product(o.dims) == y.dims.back();
}

ir::Dim rows_of(const Problem& p) { return ir::product(std::span(p.in[0].dims).first(p.in[0].dims.size() - 1)); }

Verdict supports(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (a.dtype != DType::f32 && a.dtype != DType::f16 && a.dtype != DType::bf16) return Verdict::no(cat("operands are ", name(a.dtype)));
  if (b.dtype != a.dtype) return Verdict::no("operands differ in type");
  if (!b.constant || b.dims.size() != 2) return Verdict::no("the right operand is not one constant matrix");
  if (a.dims.empty() || y.dims.size() != a.dims.size() || p.bounds(rows_of(p)).upper > kMostGemvRows)
    return Verdict::no("more than a few rows");
  for (const OperandDesc* o : {&a, &y})
    if (!o->dense || (o->layout != kPlain && !same_as_plain(o->layout, o->dims))) return Verdict::no("an operand is not dense and plain");
  for (std::size_t d = 0; d + 1 < a.dims.size(); ++d)
    if (!(a.dims[d] == y.dims[d])) return Verdict::no("the epilogue enlarges the result");
  if (!(y.dims.back() == b.dims[1]) || b.dims[0].constant() < 1 || b.dims[1].constant() < 1)
    return Verdict::no("the result has another width");
  Tail tail;
  return match_any_tail(p, by_column, -1, tail);
}

std::vector<Config> configs(const Problem& p) {
  int64_t rows = 1;
  while (rows < p.bounds(rows_of(p)).upper) rows *= 2;
  return {{rows}};
}
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 1 && (c[0] == 1 || c[0] == 2 || c[0] == 4 || c[0] == 8), "there is no such number of rows");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  std::vector<int> tail;
  int64_t rows = 1, columns = 1;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  Tail tail;
  match_any_tail(p, by_column, -1, tail);
  GemmProblem gemm;
  gemm.in = p.in[0].dtype, gemm.out = p.out[0].dtype, gemm.n = p.in[1].dims[1].constant(), gemm.k = p.in[1].dims[0].constant();
  gemm.body = tail.has_body ? &tail.body : nullptr, gemm.tail = tail.operands;
  auto k = std::make_shared<Kernel>();
  k->module = Device::get(p.device->ordinal).load(generate_gemv(gemm, static_cast<int>(c[0])));
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  k->tail = tail.inputs, k->rows = c[0], k->columns = gemm.n;
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  GemmArguments a{args.in[0].data, args.in[1].data, args.out[0].data, {}, 1};
  for (int d = 0; d + 1 < args.in[0].rank; ++d) a.m *= args.in[0].dims[d];
  for (std::size_t o = 0; o < k.tail.size(); ++o) a.tail[o] = args.in[static_cast<std::size_t>(k.tail[o])].data;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(a.a) | reinterpret_cast<std::uintptr_t>(a.b)) % 16 == 0;
  const Grid grid{static_cast<unsigned>(ceil_div(k.columns, int64_t{kGemvWarps})), static_cast<unsigned>(ceil_div(a.m, k.rows))};
  return launch(queue_of(args), aligned ? k.vectors : k.singles, grid, 32 * kGemvWarps, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_matmul_gemv() {
  return {.name = "matmul_gemv",
          .op = "MatMul",
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .packed_bytes = packed_matrix_bytes,
          .pack = pack_matrix,
          .unpack = unpack_matrix,
          .open = open,
          .run = run};
}

}  // namespace tenfold::backends
