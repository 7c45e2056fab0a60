// slice_elements: Slice with any bounds, which the kernel reads.
#include "backends/cuda/codegen/move/slice.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

bool there(const Problem& p, std::size_t i) { return i < p.in.size() && !p.in[i].missing; }

Verdict supports(const Problem& p) {
  if (bits(p.in[0].dtype) < 8 || p.in[0].dtype == DType::string) return Verdict::no("elements are smaller than a byte");
  for (const OperandDesc* o : {&p.in[0], &p.out[0]})
    if (o->layout != kPlain) return Verdict::no("an operand is not in plain layout");
  if (!p.out[0].dense) return Verdict::no("the result is not dense");
  const std::size_t rank = p.in[0].dims.size();
  if (rank < 1 || rank > kMaxSliceDims) return Verdict::no("too many dims, or none");
  for (std::size_t i = 1; i < p.in.size(); ++i) {
    if (!there(p, i)) continue;
    if (p.in[i].dtype != p.in[1].dtype || (p.in[i].dtype != DType::i64 && p.in[i].dtype != DType::i32))
      return Verdict::no("bounds are not i32 or i64");
    if (!p.in[i].dense) return Verdict::no("bounds are not dense");
  }
  return Verdict::only_if(p.bounds(ir::product(p.out[0].dims)).upper < int64_t{1} << 38, "too many elements");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  bool has_axes = false, has_steps = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  k->has_axes = there(p, 3), k->has_steps = there(p, 4);
  const int rank = static_cast<int>(p.in[0].dims.size());
  k->module = device_of(*p.device).load(generate_slice(p.in[1].dtype, bits(p.in[0].dtype) / 8, rank), opening);
  k->function = k->module->function("slice");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  SliceArguments a{x.data, args.in[1].data, k.has_axes ? args.in[3].data : nullptr, k.has_steps ? args.in[4].data : nullptr,
                   y.data, args.in[1].rank > 0 ? args.in[1].dims[0] : 1, 1, {}, {}, {}};
  for (int d = 0; d < x.rank; ++d) {
    a.x_dims[d] = x.dims[d], a.x_strides[d] = x.strides[d], a.y_dims[d] = y.dims[d];
    a.elements *= y.dims[d];
  }
  return launch(queue_of(args), k.function, {static_cast<unsigned>(ceil_div(a.elements, int64_t{kSliceThreads}))}, kSliceThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_slice_elements() {
  return {.name = "slice_elements", .ops = {"Slice"}, .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
