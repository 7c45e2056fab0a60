// conv_mma: convolutions over channels-last images as implicit products on tensor cores, with any epilogue.
#include "backends/cuda/tactics/conv_common.h"
#include "backends/cuda/tactics/mma_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Product read(const Problem& p) {
  Product product;
  read_conv(p, product);
  return product;
}
Verdict supports(const Problem& p) {
  Product product;
  const Verdict v = read_conv(p, product);
  return v ? mma_fits(p, product) : v;
}
std::vector<Config> configs(const Problem& p) { return mma_configs(p, read(p)); }
double work(const Problem& p) { return product_work(read(p)); }

std::shared_ptr<const void> open(const Problem& p, const Config& c) { return std::make_shared<MmaKernel>(read(p), c, p); }
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const MmaKernel& kernel = *static_cast<const MmaKernel*>(self);
  return kernel.run(args, conv_rows(kernel.gemm(), args));
}

}  // namespace

Tactic cuda_conv_mma() {
  return {.name = "conv_mma",
          .op = "Conv",
          .supports = supports,
          .configs = configs,
          .valid = mma_valid,
          .formats = conv_formats,
          .packed_bytes = conv_weight_bytes,
          .pack = pack_conv_weight,
          .unpack = unpack_conv_weight,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
