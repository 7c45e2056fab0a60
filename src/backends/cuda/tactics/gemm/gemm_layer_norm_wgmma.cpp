// gemm_layer_norm_wgmma: a product with a constant matrix and the norm of its rows in one kernel, where a cluster of blocks holds rows; the
// configuration is the columns of a block.
#include <algorithm>

#include "backends/cuda/codegen/gemm/gemm_wgmma.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/device/tensor_map.h"
#include "backends/cuda/tactics/gemm/pack_matrix_common.h"
#include "backends/cuda/tactics/gemm/gemm_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kColumns[] = {256, 192, 128, 96, 64};
constexpr int kSharedBytes = 227 << 10;
constexpr int64_t kMaxBlocks = 8, kFewRows = 512;

bool there(const Problem& p, std::size_t i) { return i < p.in.size() && !p.in[i].missing; }

GemmLayerNormProblem read(const Problem& p) {
  GemmLayerNormProblem n;
  n.type = p.in[0].dtype, n.scale = p.in[2].dtype, n.bias = p.in[3].dtype;
  n.n = p.in[1].dims[1].constant(), n.k = p.in[1].dims[0].constant();
  n.has_row = there(p, 4), n.added = there(p, 5), n.kept = p.out.size() > 1 && !p.out[1].missing;
  if (n.has_row) n.row = p.in[4].dtype;
  n.epsilon = static_cast<double>(p.attributes->number("epsilon"));
  return n;
}

// As deep a pipeline as fits; no stages: none does.
WgmmaNormTile tile_of(int64_t columns, int64_t n) {
  WgmmaNormTile tile{static_cast<int>(columns), static_cast<int>(n / columns), 2, 8};
  while (tile.stages > 0 && tile.shared_bytes() > kSharedBytes) --tile.stages;
  return tile;
}

std::vector<Config> configs(const Problem& p) {
  std::vector<Config> all;
  const int64_t n = p.in[1].dims[1].constant();
  for (int columns : kColumns)
    if (n % columns == 0 && n / columns <= kMaxBlocks && tile_of(columns, n).stages >= 3) all.push_back({columns});
  return all;
}

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  if (p.device->arch != 90) return Verdict::no("wgmma and clusters need sm_90");
  if (driver() && !driver()->tensor_map_tiled) return Verdict::no("the driver is older than CUDA 12: it describes no tensors for TMA");
  const DType t = p.in[0].dtype;
  if (t != DType::f16 && t != DType::bf16) return Verdict::no(cat("operands are ", name(t)));
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side) {
      if (o.missing) continue;
      if (!o.dense || (o.layout != kPlain && !same_as_plain(o.layout, o.dims))) return Verdict::no("an operand is not dense and plain");
      if (o.dims.size() > 1 ? o.dtype != t : o.dtype != DType::f16 && o.dtype != DType::bf16 && o.dtype != DType::f32)
        return Verdict::no("an operand has another type");
    }
  for (std::size_t i = 1; i < std::min<std::size_t>(p.in.size(), 5); ++i)
    if (!p.in[i].missing && !p.in[i].constant) return Verdict::no("the matrix or a row is no constant");
  const ir::Dims& w = p.in[1].dims;
  if (!w[0].is_constant() || !w[1].is_constant() || w[0].constant() < 8 || w[0].constant() % 8 != 0)
    return Verdict::no("rows do not begin at multiples of 16 bytes");
  const ir::Dims& x = p.in[0].dims;
  const ir::Interval rows = p.bounds(ir::product(std::span(x).first(x.size() - 1)));
  if (rows.upper < kFewRows || rows.upper >= int64_t{1} << 30) return Verdict::no("so few rows that sums should be split, or too many");
  return Verdict::only_if(!configs(p).empty(), "no cluster of blocks holds a row");
}

Verdict valid(const Problem& p, const Config& c) {
  const std::vector<Config> all = configs(p);
  return Verdict::only_if(std::find(all.begin(), all.end(), c) != all.end(), "there is no such tile");
}

struct Kernel {
  GemmLayerNormProblem problem;
  WgmmaNormTile tile;
  int64_t clusters = 1;  // that are on the device at once
  std::shared_ptr<const LoadedModule> module, plain_module;
  Function function = nullptr, plain = nullptr;  // the second for addresses that TMA does not take
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->problem = read(p), k->tile = tile_of(c[0], k->problem.n);
  Device& gpu = device_of(*p.device);
  k->module = gpu.load(generate_wgmma_norm(k->problem, k->tile), opening);
  k->function = k->module->function("gemm", k->tile.shared_bytes());
  if (p.may_be_misaligned()) {
    k->plain_module = gpu.load(generate_plain_norm(k->problem), opening);
    k->plain = k->plain_module->function("plain");
  }
  const auto cluster = static_cast<unsigned>(k->tile.cluster);
  int held = 0;
  const LaunchConfig config{{cluster * static_cast<unsigned>(gpu.multiprocessors()), 1, 1},
                            {static_cast<unsigned>(k->tile.tile().threads()), 1, 1},
                            static_cast<unsigned>(k->tile.shared_bytes()), nullptr, nullptr, 0};
  if (k->function && driver() && driver()->max_clusters && driver()->max_clusters(&held, k->function, &config) == kSuccess && held > 0)
    k->clusters = held;
  else
    k->clusters = std::max(1, gpu.multiprocessors() / k->tile.cluster * 7 / 8);
  return k;
}

Status::Code run_plain(const Kernel& k, const RunArgs& args, const WgmmaArguments& a) noexcept {
  if (!k.plain_module) return Status::failed;
  const PlainNormArguments plain{args.in[0].data, args.in[1].data, k.problem.added ? args.in[5].data : nullptr, args.out[0].data,
                                 k.problem.kept ? args.out[1].data : nullptr, {a.epilogue[0], a.epilogue[1], a.epilogue[2]}};
  return launch(queue_of(args), k.plain, {static_cast<unsigned>(a.m)}, kPlainNormThreads, 0, &plain, Start::early);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const GemmLayerNormProblem& p = k.problem;
  WgmmaArguments a{};
  a.m = matmul_rows(args);
  if (a.m == 0) return Status::ok;
  a.epilogue[0] = args.in[2].data, a.epilogue[1] = args.in[3].data;
  if (p.has_row) a.epilogue[2] = args.in[4].data;
  const auto address = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  std::uintptr_t bits = address(args.in[0].data) | address(args.in[1].data) | address(args.out[0].data);
  if (p.added) bits |= address(args.in[5].data);
  if (p.kept) bits |= address(args.out[1].data);
  if (bits % 16 != 0) return run_plain(k, args, a);
  const WgmmaTile tile = k.tile.tile();
  const std::array<int, 2> strip{tile.strip(), 64};
  Status::Code code = describe<2>({p.type, args.in[0].data, {p.k, a.m}, {kWgmmaDepth, tile.rows()}}, a.a);
  if (code == Status::ok) code = describe<2>({p.type, args.in[1].data, {p.k, p.n}, {kWgmmaDepth, tile.columns}}, a.b);
  if (code == Status::ok) code = describe<2>({p.type, args.out[0].data, {p.n, a.m}, strip}, a.y);
  if (code == Status::ok && p.added) code = describe<2>({p.type, args.in[5].data, {p.n, a.m}, strip}, a.r);
  if (code == Status::ok && p.kept) code = describe<2>({p.type, args.out[1].data, {p.n, a.m}, strip}, a.s);
  if (code != Status::ok) return code;
  const int64_t clusters = std::min(k.clusters, ceil_div(a.m, int64_t{tile.rows()}));
  return launch(queue_of(args), k.function, {static_cast<unsigned>(clusters * k.tile.cluster)}, static_cast<unsigned>(tile.threads()),
                static_cast<unsigned>(k.tile.shared_bytes()), &a, Start::early);
}

double work(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims;
  return 2 * static_cast<double>(p.bounds(ir::product(std::span(x).first(x.size() - 1))).upper) *
         static_cast<double>(w[0].constant() * w[1].constant());
}

}  // namespace

Tactic cuda_gemm_layer_norm_wgmma() {
  return packed_tactic({.name = "gemm_layer_norm_wgmma", .ops = {"GemmLayerNorm"},
                        .cases = {"GemmLayerNorm f16[5,130,72] f16[72,384]! f16[384]! f16[384]! f16[384]! f16[5,130,384]",
                                  "GemmLayerNorm f16[700,136] f16[136,768]! f16[768]! f16[768]! _ f16[700,768] outputs=2",
                                  "GemmLayerNorm bf16[520,64] bf16[64,192]! bf16[192]! bf16[192]! bf16[192]!"}},
                       {supports, configs, valid, packed_matrix_bytes, pack_matrix, unpack_matrix, open, run, work});
}

}  // namespace tenfold::backends
