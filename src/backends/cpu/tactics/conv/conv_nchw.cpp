// conv_nchw: direct convolution with few filters. A vector along the filters would stay mostly empty, so vectors run along the
// positions, on an NCHW copy of the input (channel planes), which each part makes of what it reads.
#include <cstring>

#include "backends/cpu/gemm/conv/conv_planes.h"
#include "backends/cpu/gemm/conv/planes_weights.h"
#include "backends/cpu/gemm/f32/f32_epilogue.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/heuristics.h"
#include "base/checked.h"

#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMaxSteps = 1 << 14, kMaxFloats = 1 << 20;   // of a sum; of a part's planes

const MoveKernels& moves_of(std::int64_t isa) { return isa == kGemmAvx512 ? tenfold_move_avx512 : tenfold_move_avx2; }
int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

Verdict supports(const Problem& p) {
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  if (s.width > 15 || (s.groups > 1 && s.filters > 64)) return Verdict::no("filters fill vectors");
  if (s.depth == 1 && s.width == 1 && s.channels > 15) return Verdict::no("channels fill vectors");
  if (planes_steps(s) > kMaxSteps || ConvPlanes(s, 1, 16).floats() > kMaxFloats) return Verdict::no("the kernel is too large");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  if (const auto form = simple_epilogue(p, 1); form && form->residual >= 0) return Verdict::no("a tensor is added to the result");
  return F32Epilogue::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) {
  return {conv_formats(p, kChannelsLast, kChannelsLast), conv_formats(p, kPlain, kChannelsLast)};
}

// What a part keeps: its planes, then the results of each filter.
struct Space {
  ConvPlanes planes;
  std::int64_t room, results;   // floats before the results; of one filter's
  Space(const ConvShape& s, const Config& c)
      : planes(s, c[1], c[2]), room(round_up(planes.floats() + 64, 16)), results(round_up(c[1] * planes.pitch(), 16) + 16) {}
  std::int64_t floats(const ConvShape& s) const { return room + s.filters * results; }
};

// {instruction set, lines, columns of a part}
std::vector<Config> configs(const Problem& p) {
  const ConvShape s(p);
  const std::size_t rank = p.out[0].dims.size();
  const auto extent = [&](std::size_t d) { return std::max<std::int64_t>(likely(p, p.out[0].dims[d], 56), 1); };
  const std::int64_t isa = best_gemm_isa(*p.device), columns = extent(rank - 1), lines = rank > 3 ? extent(rank - 2) : 1;
  const std::int64_t images = std::max<std::int64_t>(conv_likely_rows(p) / (lines * columns), 1);
  std::vector<Config> all;
  for (const std::int64_t parts : {1, 2, 4, 16}) {
    const std::int64_t of_image = ceil_div(parts, images);
    Config c{isa, ceil_div(lines, std::min(of_image, lines)), columns};
    if (of_image > lines) c[2] = std::max<std::int64_t>(ceil_div(columns, ceil_div(of_image, lines)), 64);
    while (Space(s, c).floats(s) > kMaxFloats / 4 && (c[1] > 1 || c[2] > 32)) {
      std::int64_t& halved = c[1] > 1 ? c[1] : c[2];
      halved = ceil_div(halved, 2);
    }
    c[2] = std::min(c[2], columns);
    if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  if (c[0] != kGemmAvx2 && c[0] != kGemmAvx512) return Verdict::no("it names no instruction set of this version");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  const bool sizes = c[1] > 0 && c[1] < 1 << 20 && c[2] > 0 && c[2] < 1 << 20 && c[1] * c[2] < 1 << 24;
  return Verdict::only_if(sizes && Space(ConvShape(p), c).floats(ConvShape(p)) < 1 << 26, "its block sizes are out of range");
}

struct Kernel {
  const PlanesF32Kernels* kernels;
  const MoveKernels* moves;
  ConvShape shape;
  std::int64_t lines, columns;
  Space space;
  std::vector<std::int64_t> taps;   // of all channels
  F32Epilogue epilogue;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const ConvShape s(p);
  auto kernel = std::make_shared<Kernel>(
      Kernel{&planes_kernels(c[0]), &moves_of(c[0]), s, c[1], c[2], Space(s, c), {}, F32Epilogue(p, 1, own_bias(p))});
  kernel->taps = kernel->space.planes.taps(0, s.channels);
  return kernel;
}

// After the planes: what the epilogue wants.
std::int64_t planes_bytes(const Space& space, const ConvShape& s) { return round_up(space.floats(s) * 4, 64); }
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const ConvShape s(p);
  return planes_bytes(Space(s, c), s) + F32Epilogue(p, 1, own_bias(p)).scratch_bytes();
}

// All filters of a part from its planes.
void sums(const Kernel& kernel, const float* weights, const GemmF32EpilogueArgs& epilogue, const float* planes, float* results,
          std::int64_t positions) noexcept {
  const ConvShape& s = kernel.shape;
  PlanesF32 p{.steps = planes_steps(s), .low = epilogue.low, .high = epilogue.high, .clamp = epilogue.clamp, .pitch = kernel.space.results};
  for (std::int64_t group = 0; group < s.groups; ++group)
    for (std::int64_t block = 0; block < planes_blocks(s); ++block) {
      const std::int64_t begin = planes_block_begin(s, block), filters = planes_block_begin(s, block + 1) - begin;
      const std::int64_t first = group * s.width + begin;
      p.taps = kernel.taps.data() + group * p.steps;
      p.weights = weights;
      p.bias = epilogue.bias ? epilogue.bias + first : nullptr;
      kernel.kernels->run[filters - 1](p, planes, results + first * p.pitch, positions);
      weights += filters * p.steps;
    }
}

// Results [from, ...) of a line side by side.
void interleave(const Kernel& kernel, const float* results, std::int64_t count, float* y, std::int64_t y_stride) noexcept {
  if (kernel.shape.filters == 1 && y_stride == 1)
    std::memcpy(y, results, static_cast<std::size_t>(count) * 4);
  else
    kernel.moves->transpose[2](y, y_stride, results, kernel.space.results, kernel.shape.filters, count);
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvShape& s = kernel.shape;
  const Bound &x = args.in[0], &y = args.out[0];
  const ConvExtents e(x, y);
  if (e.rows() == 0) return Status::ok;
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::channels_last(y.rank), bound);
  const std::int64_t y_stride = y.strides[y.rank - 1], pitch = kernel.space.planes.pitch();
  const std::int64_t across = ceil_div(e.out[2], kernel.columns), down = ceil_div(e.out[1], kernel.lines);
  args.parallel->for_each(e.batch * e.out[0] * down * across, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t image = part / across / down;
    const Three at{image % e.out[0], part / across % down * kernel.lines, part % across * kernel.columns};
    const std::int64_t lines = std::min(kernel.lines, e.out[1] - at[1]), columns = std::min(kernel.columns, e.out[2] - at[2]);
    float* const planes = args.scratch_of<float>(worker);
    float* const results = planes + kernel.space.room;
    void* const rest = planes + planes_bytes(kernel.space, s) / 4;
    kernel.space.planes.fill(e, x.as<const float>() + image / e.out[0] * e.x_batch, x.strides[1], at, *kernel.moves, planes);
    sums(kernel, args.in[1].as<const float>(), bound.epilogue, planes, results, (lines - 1) * pitch + columns);
    // Without gaps all lines are one.
    const bool one = columns == pitch && columns == e.out[2];
    const std::int64_t rows = one ? lines * columns : columns;
    for (std::int64_t line = 0; line < (one ? 1 : lines); ++line) {
      const std::int64_t row = (image * e.out[1] + at[1] + line) * e.out[2] + at[2];
      float* const to = y.as<float>() + row * y_stride;
      interleave(kernel, results + line * pitch, rows, to, y_stride);
      if (!kernel.epilogue.in_registers()) kernel.epilogue.apply(bound, row, rows, 0, s.filters, to, y_stride, rest);
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_nchw() {
  return packed_tactic({.name = "conv_nchw", .ops = {"Conv"}, .formats = formats,
                        .worker_scratch = worker_scratch},
                       {supports, configs, valid, planes_packed_bytes, planes_pack, planes_unpack, open, run, conv_work});
}

}  // namespace tenfold::backends
