// conv_mma: convolutions over channels-last images, in groups or not, as implicit products on tensor cores, with any epilogue.
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_weights_common.h"
#include "backends/cuda/tactics/product/mma_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

Product read(const Problem& p) {
  Product product;
  read_conv(p, product, F32::tf32, true);
  return product;
}
Verdict supports(const Problem& p) {
  Product product;
  return read_conv(p, product, F32::tf32, true);
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
          .packed_bytes = packed_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
