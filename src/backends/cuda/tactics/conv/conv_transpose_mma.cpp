// conv_transpose_mma: transposed convolutions over channels-last images on tensor cores, with any epilogue: where windows tile the
// result, as products that put their columns where they belong in it; otherwise as a convolution for each phase.
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_weights_common.h"
#include "backends/cuda/tactics/product/mma_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Product read(const Problem& p) {
  Product product;
  read_conv_transpose(p, product);
  return product;
}
Verdict supports(const Problem& p) {
  Product product;
  return read_conv_transpose(p, product);
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

std::shared_ptr<const void> open(const Problem& p, const Config& c) { return std::make_shared<MmaKernel>(read(p), c, p); }
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const MmaKernel& kernel = *static_cast<const MmaKernel*>(self);
  const auto& e = kernel.gemm().spreads ? kernel.gemm().in_extent : kernel.gemm().out_extent;
  return kernel.run(args, args.in[0].dims[0] * e[0] * e[1] * e[2]);
}

}  // namespace

Tactic cuda_conv_transpose_mma() {
  return {.name = "conv_transpose_mma",
          .op = "ConvTranspose",
          .supports = supports,
          .configs = configs,
          .valid = mma_valid,
          .formats = conv_formats,
          .packed_bytes = packed_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
