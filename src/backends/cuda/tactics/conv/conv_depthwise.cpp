// conv_depthwise: a filter for each channel, channels last, with any epilogue: bound by memory, so no tensor cores.
#include "backends/cuda/codegen/conv/conv_depthwise.h"

#include <cstring>

#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_gemm_common.h"
#include "backends/cuda/tactics/elements_common.h"
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

Verdict supports(const Problem& p) {
  FusedGemm fused;
  return read_depthwise(p, fused);
}
double work(const Problem& p) {
  FusedGemm fused;
  read_depthwise(p, fused);
  return gemm_work(fused);
}

// Between [channel, tap] and [tap, channel].
void turn(const Problem& p, const void* from, void* to, bool back) {
  const int64_t channels = p.in[1].dims[0].constant(), taps = ir::product(std::span(p.in[1].dims).subspan(1)).constant(),
                bytes = bits(p.in[1].dtype) / 8;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t plain = (c * taps + t) * bytes, own = (t * channels + c) * bytes;
      std::memcpy(static_cast<char*>(to) + (back ? plain : own), static_cast<const char*>(from) + (back ? own : plain),
                  static_cast<std::size_t>(bytes));
    }
}
int64_t packed_bytes(const Problem& p, const Config&, int input) {
  return input == 1 ? ir::product(p.in[1].dims).constant() * bits(p.in[1].dtype) / 8 : -1;
}
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  turn(p, constants[1]->raw(), packed, false);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  Tensor w(p.in[1].dtype, ir::constants(p.in[1].dims));
  turn(p, packed, w.mutable_raw(), true);
  return w;
}

struct Kernel {
  FusedGemm fused;
  std::shared_ptr<const LoadedModule> module;
  Function vectors = nullptr, singles = nullptr;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  read_depthwise(p, k->fused);
  GemmProblem& g = k->fused.gemm;
  g.body = k->fused.epilogue.has_body ? &k->fused.epilogue.body : nullptr;
  g.epilogue = k->fused.epilogue.operands;
  k->module = device_of(*p.device).load(generate_conv_depthwise(g), opening);
  k->vectors = k->module->function("vectors"), k->singles = k->module->function("singles");
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const GemmProblem& g = k.fused.gemm;
  GemmArguments a{args.in[0].data, args.in[1].data, args.out[0].data, {}, conv_rows(g, args)};
  place_epilogue(args, k.fused.epilogue, a.epilogue);
  const bool aligned = lie_aligned(args, k.fused.epilogue);
  const int64_t threads = a.m * (g.n / (aligned ? depthwise_width(g) : 1));
  return launch(queue_of(args), aligned ? k.vectors : k.singles, {static_cast<unsigned>(ceil_div(threads, int64_t{kDepthwiseThreads}))},
                kDepthwiseThreads, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_conv_depthwise() {
  return packed_tactic({.name = "conv_depthwise", .ops = {"Conv", {"ConvFloat8", "conv_float8_depthwise"},
                                                         {"ConvInteger", "conv_integer_depthwise"}},
                        .formats = conv_formats,
                        .cases = {"ConvInteger u8[2,48,19,17] i8[48,1,3,3]! u8[]{9} group=48 pads=[1,1,1,1] "
                                  "strides=[2,1]",
                                  "ConvInteger i8[2,20,9,11] i8[20,1,5,3]! group=20 pads=[2,1,2,1]",
                                  "ConvFloat8 f8e4m3fn[2,48,19,17] f8e4m3fn[48,1,3,3]! group=48 pads=[1,1,1,1] "
                                  "strides=[2,1]",
                                  "Conv f16[2,48,19,17] f16[48,1,3,3]! f16[48]! group=48 pads=[1,1,1,1] strides=[2,1]",
                                  "Conv f32[1,33,9,8,7] f32[33,1,3,3,3]! group=33 dilations=[1,2,1]"}},
                       {supports, one_config, nullptr, packed_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
