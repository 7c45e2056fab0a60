// transpose_copy: a permutation of dims, written in order and read with strides.
#include "backends/cuda/tactics/copy_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

std::vector<int> permutation(const Problem& p) {
  ir::Ints perm;
  for (auto d = static_cast<std::int64_t>(p.in[0].dims.size()); d-- > 0;) perm.push_back(d);
  perm = p.attributes->ints("perm", perm);
  return {perm.begin(), perm.end()};
}

OperandDesc permuted(const Problem& p) {
  const OperandDesc from = strided(p.in[0]);
  OperandDesc to = from;
  const std::vector<int> perm = permutation(p);
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
std::shared_ptr<const void> open(const Problem& p, const Config&) {
  return std::make_shared<Kernel>(Kernel{open_copy(permuted(p), p.out[0], p), permutation(p)});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  BoundView from(args.in[0]);
  for (int d = 0; d < from.bound.rank; ++d) {
    const int source = kernel.permutation[static_cast<std::size_t>(d)];
    from.dims[d] = args.in[0].dims[source], from.strides[d] = args.in[0].strides[source];
  }
  return run_copy(*kernel.copy, queue_of(args), from.bound, args.out[0]);
}

}  // namespace

Tactic cuda_transpose_copy() {
  return {.name = "transpose_copy", .op = "Transpose", .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
