// matmul_lt: matrix products by cuBLASLt, with bias, residual and ReLU; its configurations are the library's candidates.
#include "backends/cuda/device/library_workspace.h"
#include "backends/cuda/tactics/gemm/matmul_lt_common.h"
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/packed_tactic.h"
#include "base/check.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int64_t kWorkspace = 32 << 20;  // what the library asks for on Hopper
constexpr int kCandidates = 8;

bool packs(const Problem& p) { return p.in[1].constant && p.in[1].dims.size() == 2; }

Verdict supports(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (!cublas_lt()) return Verdict::no(cublas_lt_why_not());
  if (a.dtype != DType::f32 && a.dtype != DType::f16 && a.dtype != DType::bf16 && a.dtype != DType::f64)
    return Verdict::no(cat("operands are ", name(a.dtype)));
  if (y.dtype != a.dtype || b.dtype != a.dtype) return Verdict::no("the result has another type");
  if (a.dims.size() < 2 || b.dims.size() < 2) return Verdict::no("an operand is a vector; expected matrices");
  if (y.dims.size() != a.dims.size()) return Verdict::no("the epilogue broadcasts the output to another rank");
  for (const OperandDesc* o : {&a, &b, &y})
    if (!o->dense || (o->layout != kPlain && !same_as_plain(o->layout, o->dims))) return Verdict::no("an operand is not dense and plain");
  if (!(y.dims[y.dims.size() - 2] == a.dims[a.dims.size() - 2]) || !(y.dims.back() == b.dims.back()))
    return Verdict::no("the epilogue broadcasts the output");
  if (!b.dims.back().is_constant() || !a.dims.back().is_constant()) return Verdict::no("the matrices' widths are not constant");
  if (b.dims.back() == ir::Dim(0) || a.dims.back() == ir::Dim(0)) return Verdict::no("nothing to add up");
  if (b.dims.size() > 2) {  // batches pair by pair
    const ir::Dims left(a.dims.begin(), a.dims.end() - 2), right(b.dims.begin(), b.dims.end() - 2);
    if (left != right) return Verdict::no("batches are broadcast");
  }
  LibraryEpilogue epilogue;
  return match_lt_epilogue(p, epilogue);
}

std::vector<Config> configs(const Problem&) {
  std::vector<Config> all;
  for (int i = 0; i < kCandidates; ++i) all.push_back({i});
  return all;
}
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 1 && c[0] >= 0 && c[0] < kCandidates, "there is no such candidate");
}
ir::Dim workspace(const Problem&, const Config&) { return with_room_to_align(kWorkspace); }

struct Kernel {
  LtHandle handle;
  LtSizes sizes;  // m and batch: 0 where only a run knows them
  LibraryEpilogue epilogue;
  DType dtype;
  bool tf32, known;
  int rank;
  LtPlan aligned, any;  // for operands at multiples of 16 bytes, and for others
};

void set_sizes(LtSizes& s, const int64_t* a, int a_rank) {
  int64_t outer = 1;
  for (int d = 0; d + 2 < a_rank; ++d) outer *= a[d];
  s.m = s.b_batched ? a[a_rank - 2] : outer * a[a_rank - 2];
  s.batch = s.b_batched ? outer : 1;
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto k = std::make_shared<Kernel>();
  Device& gpu = device_of(*p.device);
  gpu.make_current();
  k->handle = gpu.lt_handle();
  match_lt_epilogue(p, k->epilogue);
  k->dtype = p.in[0].dtype;
  k->tf32 = p.numerics.allows(ir::Rounding::tf32);
  k->rank = static_cast<int>(c[0]);
  k->sizes = {.n = p.in[1].dims.back().constant(),
              .k = p.in[0].dims.back().constant(),
              .b_batched = p.in[1].dims.size() > 2,
              .b_transposed = packs(p)};
  k->known = ir::is_constant(p.in[0].dims);
  if (!k->known) return k;
  set_sizes(k->sizes, ir::constants(p.in[0].dims).data(), static_cast<int>(p.in[0].dims.size()));
  if (k->sizes.m * k->sizes.batch == 0) return k;
  require(k->aligned.make(k->handle, k->sizes, k->dtype, k->tf32, k->epilogue, 16, k->rank, kWorkspace), ErrorKind::unsupported,
          "cuBLASLt has no candidate ", k->rank, " for ", p.line());
  k->any.make(k->handle, k->sizes, k->dtype, k->tf32, k->epilogue, bits(k->dtype) / 8, 0, kWorkspace);
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  LtSizes sizes = k.sizes;
  set_sizes(sizes, args.in[0].dims, args.in[0].rank);
  if (sizes.m * sizes.batch == 0) return Status::ok;
  const void* bias = k.epilogue.bias < 0 ? nullptr : args.in[static_cast<std::size_t>(k.epilogue.bias)].data;
  const void* residual = k.epilogue.residual < 0 ? nullptr : args.in[static_cast<std::size_t>(k.epilogue.residual)].data;
  bool aligned = true;
  for (const void* pointer : {static_cast<const void*>(args.in[0].data), static_cast<const void*>(args.in[1].data),
                              static_cast<const void*>(args.out[0].data), bias, residual})
    aligned = aligned && reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
  std::shared_ptr<const LtPlan> now;
  const LtPlan* plan = aligned ? &k.aligned : &k.any;
  if (!k.known) {
    const int alignment = aligned ? 16 : bits(k.dtype) / 8;
    now = lt_plan_at(k.handle, sizes, k.dtype, k.tf32, k.epilogue, alignment, aligned ? k.rank : 0, kWorkspace);
    if (!now) return Status::failed;
    plan = now.get();
  }
  return plan->run(k.handle, queue_of(args), args.in[0].data, args.in[1].data, args.out[0].data, bias, residual,
                   library_workspace(args.workspace), kWorkspace);
}

double work(const Problem& p) {
  double product = 2 * static_cast<double>(p.in[1].dims.back().constant());
  for (ir::Dim d : p.in[0].dims) product *= static_cast<double>(p.bounds(d).upper);
  return product;
}

}  // namespace

Tactic cuda_matmul_lt() {
  return packed_tactic({.name = "matmul_lt", .version = 2,  // 1: no room to align its workspace
                        .ops = {"MatMul"}, .source = Source::cublas_lt, .workspace = workspace},
                       {supports, configs, valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run, work});
}

}  // namespace tenfold::backends
