// scatter_nd_elements: ScatterND without a reduction: a copy, then a thread for each element of the updates. An index outside the data is
// noted and its update left out.
#include <type_traits>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/driver.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/kernels/index/scatter_nd_args.h"
#include "backends/cuda/tactics/elements_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kThreads = 256, kMaxIndexed = std::extent_v<decltype(ScatterNdArguments::dims)>;

Verdict supports(const Problem& p) {
  if (p.attributes->string("reduction", "none") != "none") return Verdict::no("updates are combined");
  const int size = bits(p.in[0].dtype);
  if (size < 8 || size > 64 || p.in[0].dtype == DType::string) return Verdict::no("elements are not of 8 to 64 bits");
  if (p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.dense || o.layout != kPlain) return Verdict::no("an operand is not dense and plain");
  if (!p.in[1].dims.back().is_constant() || p.in[1].dims.back().constant() > kMaxIndexed) return Verdict::no("too many dims are indexed");
  // What the operator wants of the updates is compared by the reference alone, unless the types say it.
  const auto depth = static_cast<std::ptrdiff_t>(p.in[1].dims.back().constant());
  ir::Dims requested(p.in[1].dims.begin(), p.in[1].dims.end() - 1);
  requested.insert(requested.end(), p.in[0].dims.begin() + depth, p.in[0].dims.end());
  if (p.in[2].dims != requested) return Verdict::no("the updates' extents are not those that indices and data ask for");
  return Verdict::only_if(p.bounds(ir::product(requested)).upper < int64_t{1} << 38, "too many elements");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  int depth = 0, element_bytes = 1;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->element_bytes = bits(p.in[0].dtype) / 8, k->depth = static_cast<int>(p.in[1].dims.back().constant());
  const int bytes = k->element_bytes;
  KernelText text;
  text.define("ELEMENT", bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64");
  text.define("INDEX", storage_type(p.in[1].dtype)), text.define("DEPTH", k->depth), text.define("THREADS", kThreads);
  k->module = device_of(*p.device).load(text.of("index/scatter_nd_elements.cu"), opening);
  k->function = k->module->function("scatter");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &data = args.in[0], &updates = args.in[2];
  Queue& queue = queue_of(args);
  ScatterNdArguments a{args.in[1].data, updates.data, args.out[0].data, queue.bad_index, 1, 1, {}, {}};
  for (int d = 0; d < updates.rank; ++d) a.elements *= updates.dims[d];
  int64_t all = 1;
  for (int d = data.rank; d-- > 0;) {
    if (d < k.depth) a.dims[d] = data.dims[d], a.strides[d] = all;
    if (d >= k.depth) a.block *= data.dims[d];
    all *= data.dims[d];
  }
  if (all == 0) return Status::ok;
  const auto address = [](const void* p) { return reinterpret_cast<DevicePointer>(p); };
  const int copied = driver()->copy(address(a.y), address(data.data), static_cast<std::size_t>(all * k.element_bytes), queue.stream);
  if (copied != kSuccess) {
    queue.failure = copied;
    return status_of(copied);
  }
  return launch(queue, k.function, {static_cast<unsigned>(ceil_div(a.elements, int64_t{kThreads}))}, kThreads, 0, &a);
}

}  // namespace

Tactic cuda_scatter_nd_elements() {
  return {.name = "scatter_nd_elements", .ops = {"ScatterND"}, .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
