// matmul_block_scaled_elements: rows times a constant matrix of 4 or 8 bits with a scale for each block of a column, a thread for each
// result, in f32: where f32 may not be rounded, blocks are of any size, or the GPU is older than sm_80.
#include "backends/cuda/tactics/elements_common.h"
#include "backends/cuda/tactics/gemm/block_scaled_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Verdict supports(const Problem& p) {
  BlockScaled read;
  if (supports_block_scaled_mma(p, read)) return Verdict::no("tensor cores compute it");
  return read_block_scaled(p, read);
}

struct Kernel {
  BlockScaled read;
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->read = block_scaled_of(p);
  k->module = device_of(*p.device).load(generate_block_scaled_elements(k->read.complete()), opening);
  k->function = k->module->function("elements");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const BlockScaledArguments a = block_scaled_arguments(args, k.read);
  const Grid grid{ceil_div(k.read.problem.gemm.n, std::int64_t{kBlockScaledThreads}) * a.m};
  return launch(queue_of(args), k.function, grid, kBlockScaledThreads, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_matmul_block_scaled_elements() {
  return packed_tactic({.name = "matmul_block_scaled_elements", .ops = {"MatMulBlockScaled"},
                        .cases = {"MatMulBlockScaled f32[3,70] i4[70,90]! f32[5,90](0.01,0.05)! i4[5,90]! block_size=16"}},
                       {supports, one_config, nullptr, block_scaled_bytes, block_scaled_pack, block_scaled_unpack, open, run,
                        block_scaled_work});
}

}  // namespace tenfold::backends
