// pool_windows: MaxPool and AveragePool in either layout, a thread for each result.
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "backends/cuda/tactics/pool/pool_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

struct Kernel {
  std::shared_ptr<const LoadedModule> vectors_module, singles_module;
  Function vectors = nullptr, singles = nullptr;  // the latter for addresses that are not multiples of 16
  int width = 1;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  PoolProblem pool = pool_problem(p);
  pool.width = pool_channels_side_by_side(p);
  auto k = std::make_shared<Kernel>();
  cuda::Device& gpu = device_of(*p.device);
  k->width = pool.width;
  k->vectors_module = gpu.load(generate_pool(pool), opening);
  k->vectors = k->singles = k->vectors_module->function("pool");
  if (pool.width > 1) {
    pool.width = 1;
    k->singles_module = gpu.load(generate_pool(pool), opening);
    k->singles = k->singles_module->function("pool");
  }
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const PoolArguments a = pool_arguments(args);
  const bool aligned = (reinterpret_cast<std::uint64_t>(a.x) | reinterpret_cast<std::uint64_t>(a.y)) % 16 == 0;
  const std::int64_t threads = a.batch * (a.channels / (aligned ? k.width : 1)) * a.out[0] * a.out[1] * a.out[2];
  return launch(queue_of(args), aligned ? k.vectors : k.singles, {static_cast<unsigned>(ceil_div(threads, kPoolThreads))}, kPoolThreads, 0,
                &a, Start::early);
}

}  // namespace

Tactic cuda_pool_windows() {
  return {.name = "pool_windows",
          .ops = {{"AveragePool", "average_pool_windows"}, {"MaxPool", "max_pool_windows"}},
          .supports = pool_supports,
          .configs = one_config,
          .formats = same_layouts,
          .open = open,
          .run = run};
}

}  // namespace tenfold::backends
