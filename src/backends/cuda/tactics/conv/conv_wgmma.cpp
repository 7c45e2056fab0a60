// conv_wgmma: convolutions over channels-last images as implicit products on Hopper's tensor cores, with any epilogue.
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/product/wgmma_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Product read(const Problem& p) {
  Product product;
  read_conv(p, product, F32::tf32);
  return product;
}
Verdict supports(const Problem& p) {
  Product product;
  const Verdict v = read_conv(p, product, F32::tf32);
  return v ? wgmma_fits(p, product) : v;
}
std::vector<Config> configs(const Problem& p) { return wgmma_configs(read(p)); }
double work(const Problem& p) { return product_work(read(p)); }

std::shared_ptr<const void> open(const Problem& p, const Config& c) { return std::make_shared<WgmmaKernel>(read(p), c, p); }
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const WgmmaKernel& kernel = *static_cast<const WgmmaKernel*>(self);
  return kernel.run(args, conv_rows(kernel.gemm(), args));
}

}  // namespace

Tactic cuda_conv_wgmma() {
  return {.name = "conv_wgmma",
          .op = "Conv",
          .supports = supports,
          .configs = configs,
          .valid = wgmma_valid,
          .formats = conv_formats,
          .packed_bytes = conv_weight_bytes,
          .pack = pack_conv_weight,
          .unpack = unpack_conv_weight,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
