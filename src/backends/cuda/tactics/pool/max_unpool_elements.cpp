// max_unpool_elements: MaxUnpool: zeros, then a thread for each element that is put back. An index outside the pooled image is noted.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  if (!is_index(p.in[1].dtype)) return Verdict::no("indices are not i32 or i64");
  if (p.in[1].dims != p.in[0].dims) return Verdict::no("there may be more or fewer indices than elements");
  return can_generate_threads(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const ir::Ints kernel = p.attributes->ints("kernel_shape", ir::Ints(p.in[0].dims.size() - 2, 1));
  KernelText text;
  define_window(text, p), text.define("KERNEL", listed(kernel));
  return std::make_shared<OpenThreads>(p, opening, "pool/max_unpool_elements.cu", text, std::vector<std::string>{"clear", "put"});
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
