// topk_warps: TopK of up to 32 of rows of up to 1,024 elements that lie together: a warp for each row, which it holds in registers. The
// k-th best of what its lanes (or halves of them) hold at best is a bound that few elements reach; these are sorted, 32 at a time.
#include "backends/cuda/device/launch.h"
#include "backends/cuda/kernels/reduce/topk_args.h"
#include "backends/cuda/tactics/reduce/topk_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kMaxK = 32, kMaxOfRow = 1024, kWarps = 4, kRoom = 128;

Verdict supports(const Problem& p) {
  if (Verdict v = topk_fits(p); !v) return v;
  const std::size_t axis = topk_axis(p);
  if (axis + 1 != p.in[0].dims.size()) return Verdict::no("rows do not lie together");
  if (p.bounds(p.out[0].dims[axis]).upper > kMaxK) return Verdict::no(cat("k may be more than ", kMaxK));
  return Verdict::only_if(p.bounds(p.in[0].dims[axis]).upper <= kMaxOfRow, "rows are longer than a warp holds");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  int64_t max_length = 0;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->max_length = std::max<int64_t>(p.bounds(p.in[0].dims.back()).upper, 1);
  const ir::Dim length = p.in[0].dims.back();
  const bool halves = p.in[0].dtype == DType::f16 || p.in[0].dtype == DType::bf16;
  // With twice as many maxima the bound of many is reached by fewer elements; of few it is tight enough.
  constexpr int64_t kFew = 12;
  const bool halved = p.bounds(p.out[0].dims.back()).upper > kFew && k->max_length > 32;
  KernelText text;
  define_topk_order(text, p);
  text.define("WARPS", kWarps), text.define("ROOM", kRoom), text.define("LENGTH", length.is_constant() ? cat(length.constant()) : "a.n");
  text.define("PER", ceil_div(k->max_length, int64_t{32})), text.define("HALVES", halves ? 1 : 0);
  text.define("HALVED", halved ? "true" : "false");
  k->module = device_of(*p.device).load(text.of("reduce/topk_warps.cu"), opening);
  k->function = k->module->function("topk");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  TopkWarpsArguments a{x.data, y.data, args.out[1].as<int64_t>(), 1, x.dims[x.rank - 1], y.dims[y.rank - 1]};
  for (int d = 0; d + 1 < x.rank; ++d) a.rows *= x.dims[d];
  if (a.k > a.n || a.k > kMaxK || a.n > k.max_length) return Status::invalid_shape;
  if (a.k == 0 || a.rows == 0) return Status::ok;
  return launch(queue_of(args), k.function, {static_cast<unsigned>(ceil_div(a.rows, int64_t{kWarps}))}, 32 * kWarps, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_topk_warps() {
  return {.name = "topk_warps",
          .ops = {"TopK"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"TopK i32[7,1000](-3,3) i64[1]{32}",
                    "TopK f16[9,130] i64[1]{10} largest=0",
                    "TopK f16[9,512] i64[1]{32}",
                    "TopK bf16[5,1000](-3,3) i64[1]{27} largest=0",
                    "TopK f16[7,40] i64[1]{32}",
                    "TopK f32[6,512] i64[1]{32}"}};
}

}  // namespace tenfold::backends
