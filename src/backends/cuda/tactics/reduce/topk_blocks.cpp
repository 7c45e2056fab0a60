// topk_blocks: TopK of up to 1024, a block for each row: the best so far and the next elements are sorted together, unless none of
// these is good enough.
#include "backends/cuda/device/launch.h"
#include "backends/cuda/kernels/reduce/topk_args.h"
#include "backends/cuda/tactics/reduce/topk_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kMaxK = 1024;

Verdict supports(const Problem& p) {
  if (Verdict v = topk_fits(p); !v) return v;
  return Verdict::only_if(p.bounds(p.out[0].dims[topk_axis(p)]).upper <= kMaxK, "k may be more than 1,024");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  std::size_t axis = 0;
  int half = 32;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->axis = topk_axis(p);
  const int64_t max = p.bounds(p.out[0].dims[k->axis]).upper, row = p.bounds(p.in[0].dims[k->axis]).upper;
  while (k->half < max || (k->half < 512 && 2 * k->half < row)) k->half *= 2;
  KernelText text;
  define_topk_order(text, p);
  text.define("HALF", k->half);
  k->module = device_of(*p.device).load(text.of("reduce/topk_blocks.cu"), opening);
  k->function = k->module->function("topk");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  TopkBlocksArguments a{x.data, args.out[0].data, args.out[1].as<int64_t>(), x.dims[k.axis], args.out[0].dims[k.axis], 1};
  int64_t rows = 1;
  for (int d = 0; d < x.rank; ++d)
    if (d != static_cast<int>(k.axis)) rows *= x.dims[d], a.inner *= d > static_cast<int>(k.axis) ? x.dims[d] : 1;
  if (a.k > a.n || a.k > k.half) return Status::invalid_shape;
  if (a.k == 0 || rows == 0) return Status::ok;
  return launch(queue_of(args), k.function, {static_cast<unsigned>(rows)}, static_cast<unsigned>(k.half), 0, &a, Start::early);
}

}  // namespace

Tactic cuda_topk_blocks() {
  return {.name = "topk_blocks",
          .ops = {"TopK"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"TopK f16[5,3000] i64[1]{100}",
                    "TopK bf16[2,3,700] i64[1]{700}",
                    "TopK i32[4,5000,2](-90,90) i64[1]{1000} axis=1 largest=0",
                    "TopK f32[3,40000] i64[1]{7}"}};
}

}  // namespace tenfold::backends
