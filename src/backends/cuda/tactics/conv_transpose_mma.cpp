// conv_transpose_mma: transposed convolutions whose windows tile the result, as products on tensor cores that put their columns where
// they belong in the enlarged image; with any epilogue.
#include "backends/cuda/tactics/conv_common.h"
#include "backends/cuda/tactics/mma_common.h"

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
  const Verdict v = read_conv_transpose(p, product);
  return v ? mma_fits(p, product) : v;
}
std::vector<Config> configs(const Problem& p) { return mma_configs(p, read(p)); }
double work(const Problem& p) { return product_work(read(p)); }

// Weights [channels, filters, taps] as [tap, filter, channel], and back.
void repack(const Problem& p, const void* from, void* to, bool back) {
  const ir::Dims& w = p.in[1].dims;
  const std::int64_t channels = w[0].constant(), filters = w[1].constant(), taps = ir::product(std::span(w).subspan(2)).constant();
  const auto* source = static_cast<const std::uint16_t*>(from);
  auto* target = static_cast<std::uint16_t*>(to);
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t f = 0; f < filters; ++f)
      for (std::int64_t t = 0; t < taps; ++t) {
        const std::int64_t plain = (c * filters + f) * taps + t, own = (t * filters + f) * channels + c;
        target[back ? plain : own] = source[back ? own : plain];
      }
}
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  repack(p, constants[1]->raw(), packed, false);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  Tensor w(p.in[1].dtype, ir::constants(p.in[1].dims));
  repack(p, packed, w.mutable_raw(), true);
  return w;
}

std::shared_ptr<const void> open(const Problem& p, const Config& c) { return std::make_shared<MmaKernel>(read(p), c, p); }
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const MmaKernel& kernel = *static_cast<const MmaKernel*>(self);
  const auto& e = kernel.gemm().in_extent;
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
          .packed_bytes = conv_weight_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
