// expand_depthwise_lines: a 1x1 convolution and the depthwise one behind it, channels-last. Each line of the first's result is made when
// the second needs it, and stays in the second cache for as many lines as its window is high. With AMX the first may run on tiles, in three
// terms of bf16.
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"
#include "backends/cpu/gemm/conv/point_weights.h"
#include "backends/cpu/gemm/conv/window_rows.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/heuristics.h"
#include "backends/cpu/kernels/conv/depthwise_f32.h"
#include "backends/cpu/tactics/conv/expand_depthwise_common.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

const DepthwiseF32Kernels& lines_of(std::int64_t isa) {
  return isa == kGemmAvx2 ? tenfold_depthwise_f32_avx2 : tenfold_depthwise_f32_avx512;
}

Verdict supports(const Problem& p) {
  if (const Verdict common = expand_depthwise_supports(p, DType::f32); !common) return common;
  return F32Epilogue::supports(p, 1);
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

GemmF32Weights matrix_of(const Problem& p, std::int64_t isa) {
  const ExpandShape s(p);
  return {.taps = 1, .k = s.channels, .n = s.width, .k_block = s.channels, .panel = gemm_f32_kernels(isa).panel};
}
GemmF32Weights filters_of(const Problem& p, std::int64_t isa) {
  const ExpandShape s(p);
  return {.taps = s.high * s.wide, .k = 1, .n = s.width, .k_block = 1, .panel = lines_of(isa).panel};
}

PointWeights points_of(const Problem& p) { return {ExpandShape(p).channels, ExpandShape(p).width}; }

// {instruction set, lines of a part, whether the first convolution runs on tiles}: a part's first lines of the first result are made twice.
std::vector<Config> configs(const Problem& p) {
  const std::int64_t lines = likely(p, p.out[0].dims[2], 56);
  std::vector<Config> all;
  for (const std::int64_t isa : gemm_isas(*p.device, likely(p, p.in[0].dims[3], 56), ExpandShape(p).width)) {
    for (const std::int64_t tiles : {0, 1})
      for (const std::int64_t parts : {1, 2, 4, 8}) {
        const Config c{isa, std::max<std::int64_t>(ceil_div(lines, parts), 1), tiles};
        if (tiles && (isa == kGemmAvx2 || !split_gemm(p))) continue;
        if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
      }
  }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  if (c[2] == 1) {
    if (const Verdict possible = split_gemm(p); !possible) return possible;
  }
  return Verdict::only_if(c[1] > 0 && c[2] >= 0 && c[2] <= 1, "its block size is out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  if (input == 1 && c[2]) return points_of(p).bytes();
  return input == 1 ? matrix_of(p, c[0]).floats() * 4 : input == 3 ? filters_of(p, c[0]).floats() * 4 : -1;
}

void pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed) {
  const GemmF32Weights w = input == 1 ? matrix_of(p, c[0]) : filters_of(p, c[0]);
  const float* from = constants[static_cast<std::size_t>(input)]->data<float>();
  if (input == 1 && c[2]) return points_of(p).pack(from, packed);
  pack_f32(w, static_cast<float*>(packed),
           [&](std::int64_t tap, std::int64_t k, std::int64_t channel) { return from[channel * w.taps * w.k + tap * w.k + k]; });
}

Tensor unpack(const Problem& p, const Config& c, int input, const void* packed) {
  const GemmF32Weights w = input == 1 ? matrix_of(p, c[0]) : filters_of(p, c[0]);
  Tensor weight(DType::f32, ir::constants(p.in[static_cast<std::size_t>(input)].dims));
  float* to = weight.mutable_data<float>();
  if (input == 1 && c[2]) return points_of(p).unpack(packed, to), weight;
  for (std::int64_t channel = 0; channel < w.n; ++channel)
    for (std::int64_t tap = 0; tap < w.taps; ++tap)
      for (std::int64_t k = 0; k < w.k; ++k) *to++ = static_cast<const float*>(packed)[w.slot(tap, k, channel)];
  return weight;
}

struct Kernel {
  const GemmF32Kernels* product;
  const DepthwiseF32Line* line;  // [results - 1]
  ExpandShape shape;
  GemmF32Weights matrix, filters;
  std::int64_t lines_of_part, tiles_bytes;   // of a worker's scratch, none: no tiles
  float low, high;
  F32Epilogue epilogue;
  std::vector<float> zeros;  // a position of padding
};

std::int64_t tiles_bytes(const Problem& p, const Config& c) {
  return c[2] ? PointSplitKernels::narrow_scratch_bytes(ExpandShape(p).channels, ExpandShape(p).width) : 0;
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const ExpandShape s(p);
  return std::make_shared<Kernel>(Kernel{&gemm_f32_kernels(c[0]), lines_of(c[0]).line[s.wide == 5][s.stride_x - 1], s, matrix_of(p, c[0]),
                                         filters_of(p, c[0]), c[1], tiles_bytes(p, c), p.attributes->number("low", -kInfinity),
                                         p.attributes->number("high", kInfinity), F32Epilogue(p, 1),
                                         std::vector<float>(static_cast<std::size_t>(s.width))});
}

// Of a worker: what tiles need, as many lines of the first result as a window is high, then what the epilogue needs.
ir::Dim ring_bytes(const Problem& p) { return p.in[0].dims[3] * (ExpandShape(p).high * ExpandShape(p).width * 4); }
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  return ring_bytes(p) + (tiles_bytes(p, c) + F32Epilogue(p, 1).scratch_bytes());
}

// Some lines of one image's result.
struct Part {
  const Kernel& kernel;
  const RunArgs& args;
  const F32Epilogue::Binding& bound;
  std::int64_t image;
  char* tiles;
  float* ring;
  void* scratch;
  const ExpandShape& s = kernel.shape;
  const Bound &x = args.in[0], &y = args.out[0];
  std::int64_t in_high = x.dims[2], in_wide = x.dims[3], out_high = y.dims[2], out_wide = y.dims[3];

  float* line_of(std::int64_t i) const noexcept { return ring + i % s.high * in_wide * s.width; }

  // Line i of the first result, with its bias and bounds.
  void expand(std::int64_t i) const noexcept {
    const float* from = x.as<const float>() + image * x.strides[0] + i * x.strides[2];
    kernel.tiles_bytes ? expand_on_tiles(from, line_of(i)) : expand(from, line_of(i));
  }
  void expand_on_tiles(const float* from, float* to) const noexcept {
    PointSplit p;
    p.a = from, p.a_stride = x.strides[3], p.rows = in_wide, p.k = s.channels, p.height = point_tile_height(in_wide);
    p.panels = args.in[1].as<const std::uint16_t>(), p.columns = s.width, p.c = to, p.c_stride = s.width;
    p.bias = args.in[2].as<const float>(), p.low = kernel.low, p.high = kernel.high, p.scratch = tiles;
    tenfold_point_split_amx.run_narrow(p);
  }
  void expand(const float* from, float* to) const noexcept {
    const int high = kernel.product->max_rows;
    const F32Epilogue in_registers;
    F32Epilogue::Binding first;
    first.any = true;
    first.epilogue.bias = args.in[2].as<const float>();
    first.epilogue.clamp = kernel.low > -kInfinity || kernel.high < kInfinity;
    first.epilogue.low = kernel.low, first.epilogue.high = kernel.high;
    const std::int64_t max = table_rows(1, high);
    for (std::int64_t at = 0, count; at < in_wide; at += count) {
      count = std::min(in_wide - at, max);
      const float* table[kRowTable];
      fill_table(RowTiles(count, high), 1, high, table,
                 [&](std::int64_t position, const float** entry) { *entry = from + (at + position) * x.strides[3]; });
      const GemmF32Block block{.table = table, .rows = count, .row = at, .first_panel = 0, .last_panel = kernel.matrix.panels(),
                               .c = to, .c_stride = s.width};
      gemm_f32_block(*kernel.product, kernel.matrix, args.in[1].as<const float>(), block, in_registers, first, nullptr);
    }
  }

  // Line `out` of the result.
  void filter(std::int64_t out) const noexcept {
    const float* lines[kMaxTaps];
    std::int64_t steps[kMaxTaps];
    for (std::int64_t k = 0; k < s.high; ++k) {
      const std::int64_t i = out * s.stride_y - s.top + k;
      const bool exists = i >= 0 && i < in_high;
      steps[k] = exists ? s.width : 0;
      lines[k] = exists ? line_of(i) - s.left * s.width : kernel.zeros.data();
    }
    const std::int64_t row = (image * out_high + out) * out_wide, stride = y.strides[3];
    GemmF32Tile t;
    t.taps = kernel.filters.taps;
    t.panel = args.in[3].as<const float>();
    t.rows = lines;
    t.c_stride = stride, t.cols = s.width;
    const RowTiles tiles(out_wide, kDepthwiseLine);
    for (std::int64_t i = 0, at = -s.left; i < tiles.count; ++i) {
      const std::int64_t first = row + tiles.begin(i), height = tiles.begin(i + 1) - tiles.begin(i);
      const GemmF32EpilogueArgs epilogue = bound.at(first, 0);
      t.c = y.as<float>() + first * stride;
      t.epilogue = bound.any ? &epilogue : nullptr;
      kernel.line[height - 1](t, {.steps = steps, .first = -at, .last = in_wide - at, .zeros = kernel.zeros.data()});
      at += height * s.stride_x;
      for (std::int64_t k = 0; k < s.high; ++k) lines[k] += height * s.stride_x * steps[k];
    }
    if (!kernel.epilogue.in_registers())
      kernel.epilogue.apply(bound, row, out_wide, 0, s.width, y.as<const float>() + row * stride, stride, scratch);
  }

  void all(std::int64_t first, std::int64_t last) const noexcept {
    s.walk(first, last, in_high, [&](std::int64_t i) { expand(i); }, [&](std::int64_t out) { filter(out); });
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound& y = args.out[0];
  if (y.dims[0] * y.dims[2] * y.dims[3] == 0) return Status::ok;
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::channels_last(y.rank), bound);
  const LineParts parts(y, kernel.lines_of_part, 1);
  args.parallel->for_each(parts.count(), [&](std::int64_t i, int worker) noexcept {
    auto* const tiles = args.scratch_of<char>(worker);
    auto* const ring = reinterpret_cast<float*>(tiles + kernel.tiles_bytes);
    const LineParts::Part part = parts.part(i);
    const Part p{kernel, args, bound, part.image, tiles, ring, ring + kernel.shape.high * args.in[0].dims[3] * kernel.shape.width};
    p.all(part.first, part.last);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_expand_depthwise_lines() {
  return packed_tactic({.name = "expand_depthwise_lines", .version = 2, .ops = {"ExpandDepthwise"},
                        .formats = formats, .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, expand_depthwise_work});
}

}  // namespace tenfold::backends
