// conv_mma: convolutions over channels-last images, in groups or not, as implicit products on tensor cores, with any epilogue.
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_gemm_common.h"
#include "backends/cuda/tactics/conv/conv_weights_common.h"
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

FusedGemm read(const Problem& p) {
  FusedGemm fused;
  read_conv(p, fused, F32::tf32, true);
  return fused;
}
Verdict supports(const Problem& p) {
  FusedGemm fused;
  return read_conv(p, fused, F32::tf32, true);
}
std::vector<Config> configs(const Problem& p) { return mma_configs(p, read(p)); }
double work(const Problem& p) { return conv_work(p, read(p)); }

std::int64_t packed_bytes(const Problem& p, const Config&, int input) {
  return input == 1 ? packed_weight_bytes(p, weight_order(p, read(p).gemm).together) : -1;
}
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  const WeightOrder order = weight_order(p, read(p).gemm);
  pack_weights(p, order, constants[1]->raw(), packed);
  add_weight_sums(p, p.in[1].dims[0].constant(), packed, order.together);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  return unpack_weights(p, weight_order(p, read(p).gemm), packed);
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<MmaKernel>(read(p), c, p, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const MmaKernel& kernel = *static_cast<const MmaKernel*>(self);
  return kernel.run(args, conv_rows(kernel.gemm(), args));
}

}  // namespace

Tactic cuda_conv_mma() {
  return packed_tactic({.name = "conv_mma", .ops = {"Conv", {"ConvFloat8", "conv_float8_mma"}, {"ConvInteger", "conv_integer_mma"}},
                        .formats = conv_formats,
                        .cases = {"Conv f32[2,3,57,45] f32[40,3,7,7]! f32[40]! pads=[3,3,3,3] strides=[2,2] "
                                  "numerics={round_to=tf32}",
                                  "Conv f32[6,20,29,31] f32[56,20,3,5]! f32[56]! strides=[2,1] dilations=[2,1] "
                                  "pads=[2,1,1,0] "
                                  "numerics={round_to=tf32}",
                                  "Conv f16[2,64,15,14] f16[128,64,1,1]! f16[128]! strides=[2,2]",
                                  "Conv f16[1,32,100] f16[32,32,5]! pads=[2,2]",
                                  "Conv f16[2,3,64,96] f16[40,3,16,16]! f16[40]! strides=[16,16]",
                                  "Conv f16[3,24,8,10] f16[40,24,2,2]! strides=[2,2]",
                                  "Conv f16[2,128,9,11] f16[128,4,3,3]! f16[128]! group=32 pads=[1,1,1,1]",
                                  "Conv f16[3,96,19,18] f16[192,24,3,3]! group=4 strides=[2,2] pads=[1,1,1,1]",
                                  "Conv bf16[1,9,7,5] bf16[6,3,3,2]! bf16[6]! group=3 dilations=[2,1]",
                                  "Conv f16[2,60,5,6,7] f16[40,12,3,1,2]! f16[40]! group=5 pads=[1,0,1,1,0,1]",
                                  "Conv f16[2,64,30] f16[64,32,5]! group=2 pads=[2,2]",
                                  "Conv f16[1,140,5,4] f16[140,70,1,1]! group=2",
                                  "Conv bf16[2,256,5,4] bf16[256,64,1,1]! bf16[256]! group=4",
                                  "ConvInteger u8[2,64,14,14] i8[64,64,3,3]! u8[]{9} pads=[1,1,1,1]",
                                  "ConvInteger i8[2,3,31,33] i8[40,3,7,5]! i8[]{5} pads=[3,2,3,2] strides=[2,1] "
                                  "dilations=[1,2]",
                                  "ConvInteger i8[1,16,8,8,8] i8[32,16,3,3,3]! i8[]{1} pads=[1,1,1,1,1,1]",
                                  "ConvInteger u8[2,64,9,11](0,255) i8[64,4,3,3](-128,127)! u8[]{128} group=16 "
                                  "pads=[1,1,1,1]",
                                  "ConvInteger i8[1,12,9,7] i8[18,4,3,2]! i8[]{-3} group=3 strides=[2,1] "
                                  "pads=[1,0,1,1]",
                                  "ConvFloat8 f8e4m3fn[2,64,14,14] f8e4m3fn[64,64,3,3]! pads=[1,1,1,1]",
                                  "ConvFloat8 f8e4m3fn[2,3,31,33] f8e4m3fn[40,3,7,5]! pads=[3,2,3,2] strides=[2,1] "
                                  "dilations=[1,2]",
                                  "ConvFloat8 f8e4m3fn[2,64,9,11] f8e4m3fn[64,4,3,3]! group=16 pads=[1,1,1,1]"}},
                       {supports, configs, mma_valid, packed_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
