// conv_depthwise: convolution in which every channel has a filter of its own, vectors along the channels; channels-last.
#include "backends/cpu/gemm/conv/depthwise_f32_block.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

const DepthwiseF32Kernels& kernels_of(std::int64_t isa) {
  return isa == kGemmAvx512 ? tenfold_depthwise_f32_avx512 : tenfold_depthwise_f32_avx2;
}
int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

Verdict supports(const Problem& p) {
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  if (s.depth != 1 || s.width != 1) return Verdict::no("not every channel has exactly one filter of its own");
  if (s.taps() > kMaxTaps) return Verdict::no("the kernel has too many taps");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return F32Epilogue::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

// The same panels as a product's with one k: columns are channels.
GemmF32Weights weights_of(const ConvShape& s, std::int64_t isa) {
  return {.taps = s.taps(), .k = 1, .n = s.channels, .k_block = 1, .panel = kernels_of(isa).panel};
}

// {instruction set, positions of a block, channels of a block}
std::vector<Config> configs(const Problem& p) {
  const ConvShape s(p);
  const std::int64_t isa = best_gemm_isa(*p.device), rows = conv_likely_rows(p);
  std::vector<Config> all;
  for (const std::int64_t parts : {16, 1, 4, 64}) {
    const std::int64_t block = std::max<std::int64_t>(ceil_div(rows, parts), 24);
    const Config c{isa, block, s.channels};
    if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  }
  if (s.channels >= 128) all.push_back({isa, all.front()[1], round_up(ceil_div(s.channels, 4), kernels_of(isa).panel)});
  // Channels that fill the shorter vector: without halves that stay empty.
  if (s.channels <= kernels_of(kGemmAvx2).panel / 2 && isa != kGemmAvx2) all.push_back({kGemmAvx2, all.front()[1], s.channels});
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[2] > 0 && c[2] < 1 << 30, "its block sizes are out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  return input == 1 ? weights_of(ConvShape(p), c[0]).floats() * 4 : -1;
}

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const GemmF32Weights w = weights_of(ConvShape(p), c[0]);
  const float* from = constants[1]->data<float>();
  pack_f32(w, static_cast<float*>(packed),
           [&](std::int64_t tap, std::int64_t, std::int64_t channel) { return from[channel * w.taps + tap]; });
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const GemmF32Weights w = weights_of(ConvShape(p), c[0]);
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  float* to = weight.mutable_data<float>();
  for (std::int64_t channel = 0; channel < w.n; ++channel)
    for (std::int64_t tap = 0; tap < w.taps; ++tap) to[channel * w.taps + tap] = static_cast<const float*>(packed)[w.slot(tap, 0, channel)];
  return weight;
}

struct Kernel : DepthwiseF32 {
  std::int64_t block_rows = 0, block_channels = 0;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &kernels_of(c[0]);
  kernel->shape = ConvShape(p);
  kernel->weights = weights_of(kernel->shape, c[0]);
  kernel->block_rows = c[1], kernel->block_channels = c[2];
  kernel->line = depthwise_f32_line(*kernel->kernels, kernel->shape);
  kernel->epilogue = F32Epilogue(p, 1, own_bias(p));
  kernel->zeros.assign(static_cast<std::size_t>(kernel->shape.channels), 0.f);
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config&) { return F32Epilogue(p, 1, own_bias(p)).scratch_bytes(); }

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const GemmF32Weights& w = kernel.weights;
  const ConvExtents extents(args.in[0], args.out[0]);
  const std::int64_t rows = extents.rows();
  if (rows == 0) return Status::ok;
  const WindowRows windows(kernel.shape, extents, args.in[0].as<const float>(), kernel.zeros.data());
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::channels_last(args.out[0].rank), bound);
  const std::int64_t panels = w.panels(), pieces = ceil_div(w.n, std::max<std::int64_t>(kernel.block_channels, w.panel));
  const std::int64_t blocks = ceil_div(rows, kernel.block_rows);
  args.parallel->for_each(blocks * pieces, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t i = part / pieces, j = part % pieces;
    DepthwiseF32Block block(kernel, args, extents, windows, bound, j * panels / pieces * w.panel,
                            std::min(w.n, (j + 1) * panels / pieces * w.panel));
    block.run(i * rows / blocks, (i + 1) * rows / blocks, args.scratch_of(worker));
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_depthwise() {
  return packed_tactic({.name = "conv_depthwise", .version = 2, .ops = {"Conv"}, .formats = formats,
                        .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_work});
}

}  // namespace tenfold::backends
