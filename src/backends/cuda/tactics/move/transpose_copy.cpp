// transpose_copy: a permutation of dims, written in order and read with strides.
#include "backends/cuda/tactics/move/transpose_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

OperandDesc permuted(const Problem& p) {
  const OperandDesc from = strided(p.in[0]);
  OperandDesc to = from;
  const std::vector<int> perm = transpose_permutation(p);
  for (std::size_t d = 0; d < perm.size(); ++d)
    to.dims[d] = from.dims[static_cast<std::size_t>(perm[d])], to.strides[d] = from.strides[static_cast<std::size_t>(perm[d])];
  return to;
}

Verdict supports(const Problem& p) {
  if (p.in[0].layout != kPlain || p.out[0].layout != kPlain) return Verdict::no("an operand is not in plain layout");
  return can_copy(permuted(p), p.out[0], p.box);
}

struct Kernel {
  std::unique_ptr<OpenElements> copy;
  std::vector<int> permutation;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  return std::make_shared<Kernel>(Kernel{open_copy(permuted(p), p.out[0], p, opening), transpose_permutation(p)});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const BoundView from = cuda::permuted(args.in[0], kernel.permutation);
  return run_copy(*kernel.copy, queue_of(args), from.bound, args.out[0]);
}

}  // namespace

Tactic cuda_transpose_copy() {
  return {.name = "transpose_copy",
          .ops = {"Transpose"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"Transpose f16[2,5,12,32] perm=[0,2,1,3]"}};
}

}  // namespace tenfold::backends
