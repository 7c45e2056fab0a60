// bit_cast_copy: elements copied as they are, though the result has another type.
#include "backends/cuda/tactics/copy_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

// The result as one of the operand's type, whose elements are as wide.
OperandDesc result_of(const Problem& p) {
  OperandDesc y = p.out[0];
  y.dtype = p.in[0].dtype;
  return y;
}

Verdict supports(const Problem& p) { return can_copy(p.in[0], result_of(p), p.box); }
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return open_copy(p.in[0], result_of(p), p, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  return run_copy(*static_cast<const OpenElements*>(self), queue_of(args), args.in[0], args.out[0]);
}

}  // namespace

Tactic cuda_bit_cast_copy() {
  return {.name = "bit_cast_copy", .ops = {"BitCast"}, .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
