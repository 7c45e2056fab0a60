// pad_elements: Pad in every mode, 16 bytes of the result at a time; the kernel reads the counts.
#include <algorithm>
#include <type_traits>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/kernels/move/pad_args.h"
#include "backends/cuda/tactics/copy_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int kThreads = 256, kBytes = 16, kMaxDims = std::extent_v<decltype(PadArguments::x_dims)>;

bool there(const Problem& p, std::size_t i) { return i < p.in.size() && !p.in[i].missing; }

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  if (bits(p.in[0].dtype) < 8 || bits(p.in[0].dtype) > 64 || p.in[0].dtype == DType::string)
    return Verdict::no("elements are not of 8 to 64 bits");
  if (p.in[1].dtype != DType::i64) return Verdict::no("pads are not i64");
  if (there(p, 3) && p.in[3].dtype != DType::i64 && p.in[3].dtype != DType::i32) return Verdict::no("axes are not i32 or i64");
  for (std::size_t i = 1; i < p.in.size(); ++i)
    if (there(p, i) && !p.in[i].dense) return Verdict::no("counts are not dense");
  if (!p.out[0].dense) return Verdict::no("the result is not dense");
  if (p.in[0].layout != p.out[0].layout) return Verdict::no("layouts differ");
  const std::size_t rank = p.in[0].dims.size();
  if (rank < 1 || rank > kMaxDims) return Verdict::no("too many dims, or none");
  return Verdict::only_if(p.bounds(ir::product(p.out[0].dims)).upper < int64_t{1} << 38, "too many elements");
}

std::vector<Formats> formats(const Problem& p) {
  std::vector<Layout> plain(p.in.size(), kPlain), last = plain;
  if (p.in[0].dims.size() < 3) return {{plain, {kPlain}}};
  last[0] = kChannelsLast;
  return {{plain, {kPlain}}, {last, {kChannelsLast}}};
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
  int width = 1;
  int64_t max_blocks = 1;
  bool has_value = false, has_axes = false, channels_last = false;
  // The operator's axis that is dim `d` of the result's memory.
  int axis(int d, int rank) const { return !channels_last || d == 0 ? d : d == rank - 1 ? 1 : d + 1; }
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  const int bytes = bits(p.in[0].dtype) / 8, rank = static_cast<int>(y.size());
  k->has_value = there(p, 2), k->has_axes = there(p, 3);
  k->channels_last = p.in[0].layout == kChannelsLast && rank > 2;
  k->width = kBytes / bytes;
  constexpr int64_t kMax32 = int64_t{1} << 30;   // reflecting doubles an extent
  const bool narrow = p.bounds(ir::product(y)).upper <= kMax32 && p.bounds(ir::product(x)).upper <= kMax32;
  std::string extents = "a.y_dims[d]";   // those that are known are divided by without a division
  for (int d = 0; d < rank; ++d)
    if (const ir::Dim extent = y[static_cast<std::size_t>(k->axis(d, rank))]; extent.is_constant() && extent.constant() > 0)
      extents = cat("(d) == ", d, " ? ", extent.constant(), " : ", extents);
  const std::string& mode = p.attributes->string("mode");
  KernelText text;
  text.define("ELEMENT", bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64");
  text.define("AXIS", storage_type(k->has_axes ? p.in[3].dtype : DType::i64));
  text.define("MODE", mode == "constant" ? 0 : mode == "edge" ? 1 : mode == "wrap" ? 2 : 3);
  text.define("BY_WORDS", mode == "constant" && p.in[0].dense ? 1 : 0), text.define("RANK", rank), text.define("THREADS", kThreads);
  text.define("WIDE", k->width), text.define("INDEX", narrow ? "u32" : "u64"), text.define("INT", narrow ? "int" : "i64");
  text.define("EXTENT(d)", cat("(", extents, ")")), text.define("LAST_STRIDE", p.in[0].dense ? "1" : "a.x_strides[RANK - 1]");
  Device& gpu = device_of(*p.device);
  constexpr int64_t kBlocksOfOne = 8;
  k->max_blocks = kBlocksOfOne * gpu.multiprocessors();
  k->module = gpu.load(text.of("move/pad_elements.cu"), opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  PadArguments a{x.data, args.in[1].as<i64>(), k.has_axes ? args.in[3].data : nullptr, k.has_value ? args.in[2].data : nullptr,
                 nullptr, y.data, args.in[1].dims[0] / 2, 1, {}, {}, {}, {}};
  int64_t elements = 1;
  for (int d = 0; d < x.rank; ++d) {
    const int axis = k.axis(d, x.rank);
    a.axis[d] = axis, a.x_dims[d] = x.dims[axis], a.x_strides[d] = x.strides[axis], a.y_dims[d] = y.dims[axis];
    a.total *= y.dims[axis], elements *= x.dims[axis];
  }
  a.x_end = static_cast<const char*>(x.data) + elements * (kBytes / k.width);
  if (a.total == 0) return Status::ok;
  // What a thread writes touches two rows at most.
  const bool wide = a.y_dims[x.rank - 1] >= k.width && reinterpret_cast<std::uintptr_t>(y.data) % kBytes == 0;
  const int64_t blocks = ceil_div(a.total, int64_t{kThreads} * (wide ? k.width : 1));
  return launch(queue_of(args), wide ? k.vectors : k.singles, {static_cast<unsigned>(std::min(blocks, k.max_blocks))}, kThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_pad_elements() {
  return {.name = "pad_elements",
          .ops = {"Pad"},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"Pad f16[2,20,30,5] i64[8]{0,1,2,3,0,-1,4,2} mode=\"reflect\"",
                    "Pad u8[2,20,30,5] i64[4]{3,2,1,-7} u8[]{7} i64[2]{1,-1}",
                    "Pad f16[4,20,6,9] i64[8]{0,0,1,1,0,0,1,1} f16[]{3}",  // what is padded alike
                    "Pad u8[128,5,15] i64[6]{0,1,2,0,1,1} u8[]{9}",
                    "Pad f32[64,9,8] i64[6]{0,3,2,0,-2,1}",
                    "Pad f32[6,5,3,8] i64[8]{0,0,0,3,0,0,-1,3}",
                    "Pad f64[50,3,8] i64[6]{0,0,1,0,0,0}",
                    "Pad bf16[7,9] i64[4]{-2,11,1,14} mode=\"wrap\"",
                    "Pad f32[70,9,8] i64[6]{0,3,2,1,3,2} mode=\"edge\""}};
}

}  // namespace tenfold::backends
