// max_unpool_elements: MaxUnpool: zeros, then a thread for each element that is put back. An index outside the pooled image is noted.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr const char* kRule = R"(
RULE(clear) { ((TY0*)a.out[0].p)[linear<RANKY0>(a.out[0], i)] = (TY0)0; }
RULE(put) {
  // The extents that indices count in: what the pooling read at least.
  const i64 kernel[] = {KERNEL}, strides[] = {STRIDES}, pads[] = {PADS};
  i64 at[8], to = 0;
  places<RANK0>(a.in[0], i, at);
  i64 rest = (i64)((const T1*)a.in[1].p)[offset<RANK0>(a.in[1], at)];
  bool there = rest >= 0;
  #pragma unroll
  for (int d = RANK0 - 1; d >= 0; --d) {
    i64 extent = a.in[0].d[d];
    if (d >= 2) extent = (extent - 1) * strides[d - 2] + kernel[d - 2] - pads[d - 2] - pads[d - 2 + RANK0 - 2];
    extent = max(extent, (i64)1);
    const i64 place = rest % extent;
    there = there && place < a.out[0].d[d];
    to += place * a.out[0].s[d];
    rest /= extent;
  }
  if (!there || rest > 0) *a.bad_index = 1;
  else ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)];
}
)";

Verdict supports(const Problem& p) {
  if (!is_index(p.in[1].dtype)) return Verdict::no("indices are not i32 or i64");
  if (p.in[1].dims != p.in[0].dims) return Verdict::no("there may be more or fewer indices than elements");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const ir::Ints kernel = p.attributes->ints("kernel_shape", ir::Ints(p.in[0].dims.size() - 2, 1));
  const std::string head = window_defines(p) + defined("KERNEL", listed(kernel));
  return std::make_shared<OpenThreads>(p, opening, head, kRule, std::vector<std::string>{"clear", "put"});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const OpenThreads& k = *static_cast<const OpenThreads*>(self);
  const Status::Code cleared = k.run(args, 0, elements_of(args.out[0]));
  return cleared == Status::ok ? k.run(args, 1, elements_of(args.in[0])) : cleared;
}

}  // namespace

Tactic cuda_max_unpool_elements() {
  return {.name = "max_unpool_elements", .ops = {"MaxUnpool"}, .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
