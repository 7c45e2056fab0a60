// lp_pool_elements: LpPool, a thread for each window.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (!is_short_float(p.in[0].dtype)) return Verdict::no(cat("elements are ", name(p.in[0].dtype)));
  if (p.in[0].dims.size() < 3) return Verdict::no("there are no spatial dims");
  if (Verdict v = pads_are_known(p); !v) return v;
  std::int64_t taps = 1;
  for (std::int64_t k : p.attributes->ints("kernel_shape", {})) taps *= std::min<std::int64_t>(k, 1 << 16);
  return taps < 1 << 20 ? can_generate_threads(p) : Verdict::no("the window is too large");
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const ir::Ints kernel = p.attributes->ints("kernel_shape", ir::Ints(p.in[0].dims.size() - 2, 1));
  std::int64_t taps = 1;
  for (std::int64_t k : kernel) taps *= k;
  KernelText text;
  define_window(text, p);
  text.define("KERNEL", listed(kernel)), text.define("TAPS", taps), text.define("POWER", p.attributes->integer("p"));
  return std::make_shared<OpenThreads>(p, opening, "pool/lp_pool_elements.cu", text);
}

}  // namespace

Tactic cuda_lp_pool_elements() {
  return {.name = "lp_pool_elements",
          .ops = {"LpPool"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each,
          .cases = {"LpPool f32[2,7,33,29] kernel_shape=[3,5] strides=[2,2] pads=[1,2,1,2] p=3"}};
}

}  // namespace tenfold::backends
