// expand_copy: a tensor broadcast to the result's dims.
#include "backends/cuda/tactics/copy_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) { return can_copy(p.in[0], p.out[0], p.box); }
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return open_copy(p.in[0], p.out[0], p, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  return run_copy(*static_cast<const OpenElements*>(self), queue_of(args), args.in[0], args.out[0]);
}

}  // namespace

Tactic cuda_expand_copy() {
  return {.name = "expand_copy", .ops = {"Expand"}, .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
