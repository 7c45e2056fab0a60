// norm_matmul_gemv: few rows, normalized on the way, times one constant matrix or two, with any epilogue; the configuration is the rows of
// a block.
#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/gemm/gemv.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/gemm/gemm_common.h"
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/cuda/tactics/threads_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"
#include "ops/fused/norm_matmul.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr std::size_t kMatrix = 1, kScale = 2, kSecond = 3;

// The product alone, with the epilogue: what a MatMul would be asked.
Verdict read(const Problem& p, FusedGemm& fused) {
  Problem product = p;
  const auto own = static_cast<std::size_t>(p.anchor_inputs);
  product.in.assign(p.in.begin(), p.in.begin() + 2);
  product.in.insert(product.in.end(), p.in.begin() + static_cast<std::ptrdiff_t>(own), p.in.end());
  product.anchor_inputs = 2;
  Verdict v = read_matmul(product, fused, F32::exact);
  for (int& i : fused.epilogue.inputs) i += p.anchor_inputs - 2;
  return v;
}

bool has_second(const Problem& p) { return own(p, kSecond); }

Verdict supports(const Problem& p) {
  FusedGemm fused;
  if (Verdict v = read(p, fused); !v) return v;
  if (own(p, kScale)) {
    const OperandDesc& scale = p.in[kScale];
    if (!is_short_float(scale.dtype)) return Verdict::no(cat("the norm's scale is ", name(scale.dtype)));
    if (!scale.dense || scale.dims != ir::Dims{ir::Dim(fused.gemm.k)}) return Verdict::no("the norm's scale is not one dense row");
  }
  if (has_second(p)) {
    const OperandDesc& second = p.in[kSecond];
    if (!second.constant || second.dims != p.in[kMatrix].dims || second.dtype != p.in[kMatrix].dtype)
      return Verdict::no("the second matrix is not a constant like the first");
    const std::optional<ir::Body> combine = ops::combine_of(*p.attributes, p.in[0].dtype);
    if (!combine) return Verdict::no("its products are not combined by one body of both");
    if (Verdict v = can_print(*combine); !v) return v;
  }
  return Verdict::only_if(fused.rows <= kMaxGemvRows, "more than a few rows");
}

std::vector<Config> configs(const Problem& p) {
  FusedGemm fused;
  read(p, fused);
  int64_t rows = 1;
  while (rows < fused.rows) rows *= 2;
  return {{rows}};
}
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 1 && (c[0] == 1 || c[0] == 2 || c[0] == 4 || c[0] == 8), "there is no such number of rows");
}

bool is_matrix(const Problem& p, int input) {
  const auto i = static_cast<std::size_t>(input);
  return (i == kMatrix || (i == kSecond && has_second(p))) && p.in[i].constant && p.in[i].dims.size() == 2;
}
int64_t packed_bytes(const Problem& p, const Config&, int input) {
  if (!is_matrix(p, input)) return -1;
  const OperandDesc& w = p.in[static_cast<std::size_t>(input)];
  return ir::product(w.dims).constant() * bits(w.dtype) / 8;
}
void pack(const Problem& p, const Config&, int input, std::span<const Tensor* const> constants, void* packed) {
  const auto i = static_cast<std::size_t>(input);
  pack_one(p.in[i], constants[i]->raw(), packed);
}
Tensor unpack(const Problem& p, const Config&, int input, const void* packed) {
  return unpack_one(p.in[static_cast<std::size_t>(input)], packed);
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  std::vector<int> epilogue;
  int64_t rows = 1, columns = 1;
  int warps = 1;
  bool norm = false, pair = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  FusedGemm fused;
  read(p, fused);
  GemmProblem gemm = fused.gemm;
  gemm.body = fused.epilogue.has_body ? &fused.epilogue.body : nullptr, gemm.epilogue = fused.epilogue.operands;
  const int rows = static_cast<int>(c[0]);
  auto k = std::make_shared<Kernel>();
  k->norm = own(p, kScale), k->pair = has_second(p);
  const std::optional<ir::Body> combine = k->pair ? ops::combine_of(*p.attributes, p.in[0].dtype) : std::nullopt;
  const GemvExtras extras{.norm = k->norm, .epsilon = p.attributes->number("epsilon"),
                          .scale = k->norm ? p.in[kScale].dtype : DType::f16, .combine = k->pair ? &*combine : nullptr};
  k->module = device_of(*p.device).load(generate_gemv(gemm, rows, extras), opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  k->epilogue = fused.epilogue.inputs, k->rows = rows, k->columns = gemm.n, k->warps = gemv_warps(gemm, rows);
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  GemvArguments a{args.in[0].data, args.in[kMatrix].data, args.out[0].data, {}, matmul_rows(args), nullptr, nullptr};
  if (k.norm) a.scale = args.in[kScale].data;
  if (k.pair) a.second = args.in[kSecond].data;
  for (std::size_t o = 0; o < k.epilogue.size(); ++o) a.epilogue[o] = args.in[static_cast<std::size_t>(k.epilogue[o])].data;
  const auto place = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const bool aligned = (place(a.a) | place(a.b) | place(a.second) | place(a.scale)) % 16 == 0;
  const Grid grid{ceil_div(k.columns, int64_t{k.warps}), ceil_div(a.m, k.rows)};
  return launch(queue_of(args), aligned ? k.vectors : k.singles, grid, 32u * static_cast<unsigned>(k.warps), 0, &a, Start::early);
}

double work(const Problem& p) {
  FusedGemm fused;
  read(p, fused);
  return gemm_work(fused) * (has_second(p) ? 2 : 1);
}

}  // namespace

Tactic cuda_norm_matmul_gemv() {
  return packed_tactic(
      {.name = "norm_matmul_gemv", .ops = {"NormMatMul"},
       .cases = {"NormMatMul f16[1,1,1024] f16[1024,250]! f16[1024]!",
                 "NormMatMul f16[3,2056] f16[2056,100]! f32[2056]! f16[2056,100]! combine=\"(f16,f16) %2=cast.f32(%0) %3=sigmoid.f32(%2) "
                 "%4=mul.f32(%2,%3) %5=cast.f16(%4) %6=mul.f16(%5,%1) -> %6\"",
                 "NormMatMul f32[8,101] f32[101,37]! f32[101]!", "NormMatMul bf16[2,4,100] bf16[100,36]! bf16[100]!",
                 "NormMatMul bf16[2,100] bf16[100,75]! _ bf16[100,75]! combine=\"(bf16,bf16) %2=add.bf16(%0,%1) -> %2\""}},
      {supports, configs, valid, packed_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
