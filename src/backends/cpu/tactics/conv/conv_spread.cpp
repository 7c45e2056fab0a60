// conv_spread: 1x1 convolution of few channels, channels-last; vectors of results span positions.
#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/tactics/spread_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }
F32Epilogue epilogue_of(const Problem& p) { return F32Epilogue(p, 1, own_bias(p)); }
// Rows are positions; in a line they may lie some apart.
SpreadShape shape_of(const ConvShape& s) {
  return {.inputs = s.channels, .columns = s.filters, .groups = s.groups, .step = s.stride[2] * s.channels};
}

Verdict supports(const Problem& p) {
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  for (const std::int64_t pad : p.attributes->ints("pads", {}))
    if (pad != 0) return Verdict::no("there is padding");
  if (s.taps() != 1) return Verdict::no("the kernel has more than one tap");
  if (!p.in[0].dense || !unit_channels(p.in[0])) return Verdict::no("the input is not channels-last, or has gaps");
  if (!p.out[0].dense || !unit_channels(p.out[0])) return Verdict::no("the result is not channels-last, or has gaps");
  if (const Verdict epilogue = F32Epilogue::supports(p, 1, own_bias(p)); !epilogue) return epilogue;
  return spread_fits(shape_of(s), *p.device);
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }
std::vector<Config> configs(const Problem& p) { return spread_configs(*p.device, shape_of(ConvShape(p)), conv_likely_rows(p)); }
Verdict valid(const Problem& p, const Config& c) { return spread_valid(shape_of(ConvShape(p)), *p.device, c); }

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  return input == 1 ? spread_bytes(shape_of(ConvShape(p)), c[0]) : -1;
}
void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const ConvShape s(p);
  const float* w = constants[1]->data<float>();
  pack_spread(shape_of(s), c[0], static_cast<float*>(packed), [&](std::int64_t filter, std::int64_t k) { return w[filter * s.depth + k]; });
}
Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const ConvShape s(p);
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  float* to = weight.mutable_data<float>();
  for (std::int64_t filter = 0; filter < s.filters; ++filter)
    for (std::int64_t k = 0; k < s.depth; ++k) *to++ = static_cast<const float*>(packed)[k * (s.filters + spread_lanes(c[0])) + filter];
  return weight;
}

struct Kernel {
  SpreadKernel spread;
  ConvShape shape;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const ConvShape s(p);
  return std::make_shared<Kernel>(Kernel{SpreadKernel(shape_of(s), c, epilogue_of(p)), s});
}
ir::Dim worker_scratch(const Problem& p, const Config&) { return epilogue_of(p).scratch_bytes(); }

// The inputs of the first position of a line of results.
const float* line_at(const ConvShape& s, const ConvExtents& e, const float* x, std::int64_t line) noexcept {
  const std::int64_t y = line % e.out[1], z = line / e.out[1] % e.out[0], batch = line / e.out[1] / e.out[0];
  return x + batch * e.x_batch + z * s.stride[0] * e.x_stride[0] + y * s.stride[1] * e.x_stride[1];
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvShape& s = kernel.shape;
  const ConvExtents e(args.in[0], args.out[0]);
  if (e.rows() == 0) return Status::ok;
  const float* const x = args.in[0].as<const float>();
  const SpreadRun all(kernel.spread, args, TileAxes::channels_last(args.out[0].rank),
                      x + e.batch * e.in[0] * e.in[1] * e.in[2] * s.channels);
  // Without strides all positions follow each other.
  const bool one = s.stride == Three{1, 1, 1};
  const std::int64_t length = one ? 1 : e.out[2], stretches = e.rows() / length;
  const std::int64_t parts = ceil_div(stretches, std::max<std::int64_t>(kernel.spread.rows / length, 1));
  args.parallel->for_each(parts, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t first = part * stretches / parts, last = (part + 1) * stretches / parts;
    if (one) return all.rows(x + first * s.channels, first, last - first, worker);
    for (std::int64_t line = first; line < last; ++line) all.rows(line_at(s, e, x, line), line * length, length, worker);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_spread() {
  return packed_tactic({.name = "conv_spread", .ops = {"Conv"}, .formats = formats,
                        .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_work});
}

}  // namespace tenfold::backends
