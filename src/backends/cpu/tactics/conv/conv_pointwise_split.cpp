// conv_pointwise_split: 1x1 convolutions of f32 on AMX in three terms of bf16, as conv_amx_split, for products of which the epilogues and
// packing weigh much: weights are packed in terms, tiles are as high as divides the positions best, and all epilogues run between products.
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"
#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/gemm/conv/point_weights.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/heuristics.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using Kernels = PointSplitKernels;

constexpr std::int64_t kMaxChannels = 1 << 16, kMaxScratch = 1 << 28;

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

Verdict supports(const Problem& p) {
  if (const Verdict possible = split_gemm(p); !possible) return possible;
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  const ir::Ints pads = p.attributes->ints("pads", {});
  if (s.channels < 1 || s.filters < 1) return Verdict::no("there are no channels");
  if (s.channels > kMaxChannels) return Verdict::no("there are too many channels");
  if (s.taps() != 1 || s.groups > 1) return Verdict::no("it is no 1x1 convolution without groups");
  if (s.stride != Three{1, 1, 1} || std::any_of(pads.begin(), pads.end(), [](std::int64_t v) { return v != 0; }))
    return Verdict::no("it has strides or pads");
  if (!unit_channels(p.in[0]) || !uniform_positions(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  if (const Verdict epilogue = F32Epilogue::supports(p, 1, own_bias(p)); !epilogue) return epilogue;
  return Verdict::only_if(F32Epilogue(p, 1, own_bias(p)).in_registers(), "the epilogue is more than a bias, a residual and bounds");
}

std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

// Pieces of columns are for few positions alone: where there are more, what comes next, depthwise convolutions above all, finds its
// lines in its own caches only if those were written by the same worker, which the tuner, timing steps one by one, does not see.
// {positions of a part, columns of a part, whether tiles of rows go by all panels instead of panels by all tiles}
std::vector<Config> configs(const Problem& p) {
  const std::int64_t rows = std::max<std::int64_t>(conv_likely_rows(p), 1), filters = ConvShape(p).filters;
  const std::int64_t few = many_threads() ? 256 : 128, max_pieces = many_threads() ? 16 : 4;
  std::vector<Config> all;
  for (const std::int64_t max : {256, 64, 512, 128})
    for (std::int64_t pieces = 1; pieces <= max_pieces; pieces *= 2)
      for (const std::int64_t narrow : {0, 1}) {
        const std::int64_t columns = round_up(ceil_div(filters, pieces), Kernels::kPanel);
        if (pieces > 1 && (rows > few || columns >= filters)) continue;
        const bool stacked = ConvShape(p).channels <= Kernels::kStacked;
        if (!stacked && (narrow ? columns > 192 : columns <= 32 && rows > 64)) continue;
        if (stacked && !narrow) continue;
        if (pieces > 4 && ceil_div(rows, max) * pieces > 64) continue;
        const Config c{ceil_div(rows, ceil_div(rows, max)), columns, narrow};
        if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
      }
  return all;
}

std::int64_t scratch_bytes(const Problem& p, const Config& c) {
  if (c[2]) return Kernels::narrow_scratch_bytes(ConvShape(p).channels, c[1]);
  std::int64_t max = 0;  // fewer rows may have higher tiles
  for (int height = 12; height <= 16; ++height) max = std::max(max, Kernels::scratch_bytes(c[0], height, ConvShape(p).channels));
  return max;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  if (!c[2] && ConvShape(p).channels <= Kernels::kStacked) return Verdict::no("panels of so few channels do not go by all tiles");
  if (c[0] <= 0 || c[0] > 1 << 16 || c[1] <= 0 || c[1] > 1 << 20 || c[1] % Kernels::kPanel != 0 || c[2] < 0 || c[2] > 1)
    return Verdict::no("its block sizes are out of range");
  return Verdict::only_if(scratch_bytes(p, c) <= kMaxScratch, "its scratch is too large");
}

PointWeights weights_of(const Problem& p) { return {ConvShape(p).channels, ConvShape(p).filters}; }
std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return input == 1 ? weights_of(p).bytes() : -1; }
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  weights_of(p).pack(constants[1]->data<float>(), packed);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  weights_of(p).unpack(packed, weight.mutable_data<float>());
  return weight;
}

struct Kernel {
  std::int64_t channels, filters, rows, columns;  // the latter two of a part
  bool narrow;
  F32Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const ConvShape s(p);
  return std::make_shared<Kernel>(Kernel{s.channels, s.filters, c[0], c[1], c[2] != 0, F32Epilogue(p, 1, own_bias(p))});
}

ir::Dim worker_scratch(const Problem& p, const Config& c) { return scratch_bytes(p, c); }

Status::Code run(const void* self, const RunArgs& args) noexcept {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  const ConvExtents extents(x, y);
  const std::int64_t rows = extents.rows(), blocks = ceil_div(rows, k.rows), pieces = ceil_div(k.filters, k.columns);
  if (rows == 0) return Status::ok;
  F32Epilogue::Binding bound;
  k.epilogue.bind(args, TileAxes::channels_last(y.rank), bound);
  args.parallel->for_each(blocks * pieces, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t row = part / pieces * k.rows, column = part % pieces * k.columns;
    const GemmF32EpilogueArgs epilogue = bound.at(row, column);
    PointSplit p;
    p.a_stride = extents.x_stride[2], p.rows = std::min(k.rows, rows - row), p.k = k.channels;
    p.a = x.as<const float>() + row * p.a_stride;
    p.height = point_tile_height(p.rows);
    p.panels = args.in[1].as<const std::uint16_t>() + column / Kernels::kPanel * Kernels::panel(k.channels);
    p.columns = std::min(k.columns, k.filters - column);
    p.c_stride = y.strides[y.rank - 1];
    p.c = y.as<float>() + row * p.c_stride + column;
    p.bias = epilogue.bias, p.residual = epilogue.residual, p.residual_stride = epilogue.residual_stride;
    p.low = epilogue.clamp ? epilogue.low : -kInfinity, p.high = epilogue.clamp ? epilogue.high : kInfinity;
    p.scratch = args.scratch_of<char>(worker);
    (k.narrow ? tenfold_point_split_amx.run_narrow : tenfold_point_split_amx.run)(p);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_pointwise_split() {
  return packed_tactic({.name = "conv_pointwise_split", .ops = {"Conv"}, .formats = formats, .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_work});
}

}  // namespace tenfold::backends
