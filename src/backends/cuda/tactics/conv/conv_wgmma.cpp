// conv_wgmma: convolutions over channels-last images as implicit products on Hopper's tensor cores, with any epilogue.
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_gemm_common.h"
#include "backends/cuda/tactics/gemm/wgmma_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

FusedGemm read(const Problem& p) {
  FusedGemm fused;
  read_conv(p, fused, F32::tf32);
  return fused;
}
Verdict supports(const Problem& p) {
  FusedGemm fused;
  const Verdict v = read_conv(p, fused, F32::tf32);
  return v ? wgmma_fits(p, fused) : v;
}
std::vector<Config> configs(const Problem& p) { return wgmma_configs(p, read(p)); }
double work(const Problem& p) { return gemm_work(read(p)); }

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<WgmmaKernel>(read(p), c, p, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const WgmmaKernel& kernel = *static_cast<const WgmmaKernel*>(self);
  return kernel.run(args, conv_rows(kernel.gemm(), args));
}

}  // namespace

Tactic cuda_conv_wgmma() {
  return packed_tactic({.name = "conv_wgmma", .ops = {"Conv", {"ConvFloat8", "conv_float8_wgmma"}, {"ConvInteger", "conv_integer_wgmma"}},
                        .formats = conv_formats,
                        .cases = {"Conv f32[6,64,39,37] f32[40,64,1,1]! f32[40]! numerics={round_to=tf32}",
                                  "Conv f32[3,8,13,15,16] f32[32,8,3,3,3]! pads=[1,1,1,1,1,1] numerics={round_to=tf32}",
                                  "Conv f16[10,72,23,19] f16[72,72,3,3]! f16[72]! pads=[1,1,1,1]",
                                  "Conv bf16[6,64,29,31] bf16[136,64,3,5]! bf16[136]! strides=[2,1] dilations=[2,1] "
                                  "pads=[2,1,1,0]",
                                  "Conv f16[6,64,39,37] f16[40,64,1,1]! f16[40]!",
                                  "Conv f16[24,3,64,96] f16[480,3,16,16]! f16[480]! strides=[16,16]",
                                  "Conv f16[3,24,13,15,16] f16[32,24,3,3,3]! pads=[1,1,1,1,1,1]",
                                  "Conv f16[12,24,800] f16[32,24,5]! dilations=[2] pads=[4,3]",
                                  "ConvInteger i8[6,48,39,37] i8[112,48,1,1]! i8[]{-7} strides=[2,2]",
                                  "ConvInteger u8[10,80,23,19] i8[80,80,3,3]! pads=[1,1,1,1]",
                                  "ConvFloat8 f8e4m3fn[6,48,39,37] f8e4m3fn[112,48,1,1]! strides=[2,2]",
                                  "ConvFloat8 f8e4m3fn[10,80,23,19] f8e4m3fn[80,80,3,3]! pads=[1,1,1,1]",
                                  "ConvFloat8 f8e4m3fn[3,160,13,15,16] f8e4m3fn[32,160,3,3,3]! pads=[1,1,1,1,1,1]"}},
                       {supports, configs, wgmma_valid, conv_weight_bytes, pack_conv_weight, unpack_conv_weight, open,
                        run, work});
}

}  // namespace tenfold::backends
