// conv_mma: convolutions over channels-last images as implicit products on tensor cores, with any epilogue.
#include "backends/cuda/tactics/conv_common.h"
#include "backends/cuda/tactics/mma_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

bool by_column(const OperandDesc& o, const OperandDesc& y) { return is_by_channel(o, y.dims); }
int bias_of(const Problem& p) { return p.anchor_inputs > 2 && p.in.size() > 2 && !p.in[2].missing ? 2 : -1; }

Verdict supports(const Problem& p) {
  if (Verdict v = mma_types(p); !v) return v;
  if (Verdict v = conv_is_regular(p); !v) return v;
  if (p.attributes->integer("group", 1) != 1) return Verdict::no("channels are in groups");
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  for (std::size_t d = 1; d < x.size(); ++d)
    if (!x[d].is_constant() || !y[d].is_constant()) return Verdict::no("the extents of an image are not constant");
  if (ir::product(std::span(x).subspan(1)).constant() >= int64_t{1} << 31) return Verdict::no("an image is too large");
  if (ir::product(std::span(y).subspan(1)).constant() < 1) return Verdict::no("the result is empty");
  Tail tail;
  return match_any_tail(p, by_column, bias_of(p), tail);
}

GemmProblem gemm_of(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims, &y = p.out[0].dims;
  const std::size_t rank = w.size() - 2, lead = 3 - rank;
  const ir::Ints ones(rank, 1), none(2 * rank, 0), strides = p.attributes->ints("strides", ones),
                                                   dilations = p.attributes->ints("dilations", ones),
                                                   pads = p.attributes->ints("pads", none);
  GemmProblem g;
  g.is_conv = true;
  g.channels = w[1].constant(), g.n = w[0].constant(), g.k = ir::product(std::span(w).subspan(1)).constant();
  for (std::size_t i = 0; i < rank; ++i) {
    g.in_extent[lead + i] = x[2 + i].constant(), g.out_extent[lead + i] = y[2 + i].constant(), g.kernel[lead + i] = w[2 + i].constant();
    g.stride[lead + i] = strides[i], g.dilation[lead + i] = dilations[i], g.begin[lead + i] = pads[i];
  }
  return g;
}

int64_t positions(const Problem& p) { return ir::product(std::span(p.out[0].dims).subspan(2)).constant(); }
std::vector<Config> configs(const Problem& p) {
  const GemmProblem g = gemm_of(p);
  return mma_configs(p, std::clamp<int64_t>(p.bounds(p.in[0].dims[0]).upper, 1, 1 << 12) * positions(p), g.n, g.k);
}

int64_t packed_bytes(const Problem& p, const Config&, int input) { return input == 1 ? conv_weight_bytes(p) : -1; }
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  pack_conv_weight(p, *constants[1], packed);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) { return unpack_conv_weight(p, packed); }

struct Kernel {
  MmaKernel gemm;
  int64_t positions;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  Tail tail;
  match_any_tail(p, by_column, bias_of(p), tail);
  return std::shared_ptr<const Kernel>(new Kernel{MmaKernel(p, gemm_of(p), std::move(tail), c), positions(p)});
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  return k.gemm.run(args, args.in[0].dims[0] * k.positions);
}

double work(const Problem& p) {
  return 2.0 * static_cast<double>(p.bounds(p.in[0].dims[0]).upper) * static_cast<double>(positions(p)) *
         static_cast<double>(ir::product(p.in[1].dims).constant());
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
