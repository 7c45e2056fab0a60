// conv_direct: convolutions of any float type, groups and extents, channels last; slow, but always there.
#include "backends/cuda/codegen/conv/conv_direct.h"

#include <cstring>

#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/elements_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

Verdict supports(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  const DType t = p.in[0].dtype;
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16 && t != DType::f64) return Verdict::no(cat("operands are ", name(t)));
  if (p.in[1].dtype != t || p.out[0].dtype != t) return Verdict::no("operands differ in type");
  if (!p.in[0].dims[1].is_constant()) return Verdict::no("the channels are not constant");
  return conv_is_regular(p);
}

// Weights as [tap, depth, filter].
void repack(const Problem& p, const void* from, void* to, bool back) {
  const ir::Dims& w = p.in[1].dims;
  const int64_t filters = w[0].constant(), depth = w[1].constant(), taps = ir::product(std::span(w).subspan(2)).constant(),
                bytes = bits(p.in[1].dtype) / 8;
  const auto* source = static_cast<const char*>(from);
  auto* target = static_cast<char*>(to);
  for (int64_t f = 0; f < filters; ++f)
    for (int64_t c = 0; c < depth; ++c)
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t plain = ((f * depth + c) * taps + t) * bytes, own = ((t * depth + c) * filters + f) * bytes;
        std::memcpy(target + (back ? plain : own), source + (back ? own : plain), static_cast<std::size_t>(bytes));
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

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
  int64_t filters = 0;
  bool has_bias = false;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  const ir::Dims& w = p.in[1].dims;
  const std::size_t rank = w.size() - 2, lead = 3 - rank;
  const ir::Ints ones(rank, 1), none(2 * rank, 0), strides = p.attributes->ints("strides", ones),
                                                   dilations = p.attributes->ints("dilations", ones),
                                                   pads = p.attributes->ints("pads", none);
  DirectConvProblem c;
  c.dtype = p.in[0].dtype, c.has_bias = p.in.size() > 2 && !p.in[2].missing;
  c.filters = w[0].constant(), c.depth = w[1].constant(), c.groups = p.attributes->integer("group", 1);
  for (std::size_t i = 0; i < rank; ++i)
    c.kernel[lead + i] = w[2 + i].constant(), c.stride[lead + i] = strides[i], c.dilation[lead + i] = dilations[i],
                    c.begin[lead + i] = pads[i];
  auto k = std::make_shared<Kernel>();
  k->module = device_of(*p.device).load(generate_conv_direct(c), opening);
  k->function = k->module->function("conv");
  k->filters = c.filters, k->has_bias = c.has_bias;
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  DirectConvArguments a{x.data, args.in[1].data, k.has_bias ? args.in[2].data : nullptr, y.data, x.dims[0], {1, 1, 1}, {1, 1, 1}};
  int64_t results = a.batch * k.filters;
  for (int d = 2; d < x.rank; ++d) a.in[5 - x.rank + d - 2] = x.dims[d], a.out[5 - x.rank + d - 2] = y.dims[d], results *= y.dims[d];
  return launch(queue_of(args), k.function, {static_cast<unsigned>(ceil_div(results, kDirectThreads))}, kDirectThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_conv_direct() {
  return packed_tactic({.name = "conv_direct", .ops = {"Conv"}, .formats = conv_formats},
                       {supports, one_config, nullptr, conv_weight_bytes, pack, unpack, open, run, nullptr});
}

}  // namespace tenfold::backends
