// gather_elements_threads: GatherElements, a thread for each element of the result. An index outside the data gives zero and is noted.
#include <type_traits>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/kernels/index/gather_elements_args.h"
#include "backends/cuda/tactics/copy_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kThreads = 256, kMaxDims = std::extent_v<decltype(GatherElementsArguments::x_dims)>;

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  if (p.in[1].dtype != DType::i64 && p.in[1].dtype != DType::i32) return Verdict::no("indices are not i32 or i64");
  if (bits(p.in[0].dtype) < 8 || bits(p.in[0].dtype) > 64 || p.in[0].dtype == DType::string)
    return Verdict::no("elements are not of 8 to 64 bits");
  if (p.in[0].layout != kPlain) return Verdict::no("an operand is not plain");
  for (const OperandDesc* o : {&p.in[1], &p.out[0]})
    if (!o->dense || o->layout != kPlain) return Verdict::no("indices or result are not dense and plain");
  const std::size_t rank = p.in[0].dims.size();
  if (rank < 1 || rank > kMaxDims) return Verdict::no("too many dims, or none");
  return Verdict::only_if(p.bounds(ir::product(p.out[0].dims)).upper < int64_t{1} << 38, "too many elements");
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  const int bytes = bits(p.in[0].dtype) / 8;
  const auto rank = static_cast<int64_t>(p.in[0].dims.size());
  KernelText text;
  text.define("ELEMENT", bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64");
  text.define("INDEX", storage_type(p.in[1].dtype)), text.define("RANK", rank);
  text.define("AXIS", (p.attributes->integer("axis") + rank) % rank), text.define("THREADS", kThreads);
  k->module = device_of(*p.device).load(text.of("index/gather_elements_threads.cu"), opening);
  k->function = k->module->function("gather_elements");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  GatherElementsArguments a{x.data, args.in[1].data, y.data, queue_of(args).bad_index, 1, {}, {}, {}};
  for (int d = 0; d < x.rank; ++d) {
    a.x_dims[d] = x.dims[d], a.x_strides[d] = x.strides[d], a.y_dims[d] = y.dims[d];
    a.elements *= y.dims[d];
  }
  if (a.elements == 0) return Status::ok;
  return launch(queue_of(args), k.function, {static_cast<unsigned>(ceil_div(a.elements, int64_t{kThreads}))}, kThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_gather_elements_threads() {
  return {
      .name = "gather_elements_threads", .ops = {"GatherElements"}, .supports = supports, .configs = one_config, .open = open, .run = run};
}

}  // namespace tenfold::backends
