// conv_transpose_mma: transposed convolutions over channels-last images on tensor cores, with any epilogue: where windows tile the
// result, as products that put their columns where they belong in it; otherwise as a convolution for each phase.
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
  read_conv_transpose(p, fused);
  return fused;
}
Verdict supports(const Problem& p) {
  FusedGemm fused;
  return read_conv_transpose(p, fused);
}
std::vector<Config> configs(const Problem& p) { return mma_configs(p, read(p)); }
double work(const Problem& p) { return conv_work(p, read(p)); }

std::int64_t packed_bytes(const Problem& p, const Config&, int input) {
  return input == 1 ? weight_order(p, read(p).gemm).elements() * bits(p.in[1].dtype) / 8 : -1;
}
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  pack_weights(p, weight_order(p, read(p).gemm), constants[1]->raw(), packed);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  return unpack_weights(p, weight_order(p, read(p).gemm), packed);
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  return std::make_shared<MmaKernel>(read(p), c, p, opening);
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const MmaKernel& kernel = *static_cast<const MmaKernel*>(self);
  const auto& e = kernel.gemm().spreads ? kernel.gemm().in_extent : kernel.gemm().out_extent;
  return kernel.run(args, args.in[0].dims[0] * e[0] * e[1] * e[2]);
}

}  // namespace

Tactic cuda_conv_transpose_mma() {
  return packed_tactic({.name = "conv_transpose_mma", .ops = {"ConvTranspose"}, .formats = conv_formats,
                        .cases = {"ConvTranspose f16[2,24,5,9] f16[24,16,2,2]! f16[16]! strides=[2,2]",
                                  "ConvTranspose bf16[1,16,3,4,5] bf16[16,5,2,1,3]! strides=[2,1,3]",
                                  "ConvTranspose f16[2,32,7,9] f16[32,24,4,4]! f16[24]! strides=[2,2] pads=[1,1,1,1]",
                                  "ConvTranspose bf16[1,16,6,5] bf16[16,40,3,3]! strides=[2,2] pads=[1,1,1,1] "
                                  "output_padding=[1,1]",
                                  "ConvTranspose f16[2,16,3,4,5] f16[16,16,3,3,3]! f16[16]! strides=[2,2,2] "
                                  "pads=[1,1,1,1,1,1] "
                                  "output_padding=[1,1,1]",
                                  "ConvTranspose f16[1,7,9] f16[7,5,6]! f16[5]! strides=[4] dilations=[3] pads=[2,5]",
                                  "ConvTranspose f16[2,48,5,4] f16[48,8,3,5]! group=6 strides=[3,2] dilations=[1,2] "
                                  "pads=[0,3,1,2]",
                                  // phases without taps
                                  "ConvTranspose f16[1,8,4,3] f16[8,8,1,2]! f16[8]! strides=[3,3] output_padding=[2,0]",
                                  "ConvTranspose bf16[2,64,20] bf16[64,32,16]! bf16[32]! strides=[8] pads=[4,4]",
                                  "ConvTranspose f16[2,9,5,4] f16[9,2,3,3]! group=3"}},
                       {supports, configs, mma_valid, packed_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
