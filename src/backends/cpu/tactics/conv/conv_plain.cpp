// conv_plain: direct convolution from plain tensors to plain ones, without a copy in another layout: vectors run along the positions.
// For groups of few channels, depthwise ones above all, and for one spatial dim. A part of the work lays the channels of one group
// after the other out in padded planes (kernels/conv/planes_f32.h; planes_rows_f32.h where one filter has one channel).
#include <cstring>

#include "backends/cpu/gemm/conv/conv_planes.h"
#include "backends/cpu/gemm/conv/planes_weights.h"
#include "backends/cpu/gemm/f32/f32_epilogue.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/heuristics.h"
#include "backends/cpu/kernels/conv/planes_rows_f32.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMaxSteps = 1 << 12, kMaxFloats = 1 << 18;   // of a sum; of a part's planes
constexpr std::int64_t kMaxDepth = 8;                               // of a group, where there are several spatial dims

const MoveKernels& moves_of(std::int64_t isa) { return isa == kGemmAvx512 ? tenfold_move_avx512 : tenfold_move_avx2; }
int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

bool lines_are_whole(const OperandDesc& o) { return o.layout == kPlain && (o.dense || o.strides.back() == ir::Dim(1)); }

// Planes hold one group at a time.
ConvShape one_group(ConvShape s) {
  s.channels = s.depth, s.filters = s.width, s.groups = 1;
  return s;
}

Verdict supports(const Problem& p) {
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  if (p.in[0].dims.size() > 3 && (s.depth > kMaxDepth || s.groups == 1)) return Verdict::no("channels and filters fill vectors");
  if (planes_steps(s) > kMaxSteps || ConvPlanes(one_group(s), 1, 16).floats() > kMaxFloats) return Verdict::no("the kernel is too large");
  if (!lines_are_whole(p.in[0]) || !lines_are_whole(p.out[0])) return Verdict::no("input and result are not plain");
  if (const auto form = simple_epilogue(p, 1); form && form->residual >= 0) return Verdict::no("a tensor is added to the result");
  return F32Epilogue::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kPlain, kPlain)}; }

bool by_rows(const ConvShape& s) {
  if (s.depth != 1 || s.width != 1 || s.kernel[0] != 1 || s.stride[1] != 1 || s.dilation[1] != 1) return false;
  return s.kernel[1] == 3 || s.kernel[1] == 5 || s.kernel[1] == 7;
}

// What a part keeps: the planes of a group, then the results of a block of filters.
struct Space {
  ConvPlanes planes;
  std::int64_t room, pitch, results;   // floats before the results; of a line of them; of one filter's
  Space(const ConvShape& s, const Config& c)
      : planes(one_group(s), c[1], c[2]), room(round_up(planes.floats() + 64, 16)),
        pitch(by_rows(s) ? round_up(c[2], 16) : planes.pitch()),
        results(round_up(c[1] * std::max(pitch, planes.pitch()), 16) + 16) {}
  std::int64_t floats() const { return room + kPlanesMaxFilters * results; }
};

// {instruction set, lines, columns, blocks of filters of a part}
std::vector<Config> configs(const Problem& p) {
  const ConvShape s(p);
  const std::size_t rank = p.out[0].dims.size();
  const auto extent = [&](std::size_t d) { return std::max<std::int64_t>(likely(p, p.out[0].dims[d], 56), 1); };
  const std::int64_t columns = extent(rank - 1), lines = rank > 3 ? extent(rank - 2) : 1;
  const std::int64_t images = std::max<std::int64_t>(conv_likely_rows(p) / (lines * columns), 1), blocks = s.groups * planes_blocks(s);
  std::vector<Config> all;
  for (const std::int64_t floats : {1 << 14, 1 << 12, 1 << 16})   // of the planes: in the first cache or in the second
    for (const std::int64_t parts : {16, 4}) {
      Config c{best_gemm_isa(*p.device), lines, columns, 0};
      while (Space(s, c).floats() > floats && (c[1] > 1 || c[2] > 64)) {
        std::int64_t& halved = c[1] > 1 ? c[1] : c[2];
        halved = ceil_div(halved, 2);
      }
      if (c[2] < columns) c[2] = round_up(c[2], 64);
      const std::int64_t of_image = ceil_div(lines, c[1]) * ceil_div(columns, c[2]) * images;
      c[3] = ceil_div(blocks, std::clamp<std::int64_t>(ceil_div(parts, of_image), 1, blocks));
      if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
    }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4) return Verdict::no("its configuration has another length");
  if (c[0] != kGemmAvx2 && c[0] != kGemmAvx512) return Verdict::no("it names no instruction set of this version");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  const bool sizes = c[1] > 0 && c[1] < 1 << 20 && c[2] > 0 && c[2] < 1 << 20 && c[1] * c[2] < 1 << 24 && c[3] > 0 && c[3] < 1 << 20;
  return Verdict::only_if(sizes && Space(ConvShape(p), c).floats() < 1 << 26, "its block sizes are out of range");
}

struct Kernel {
  const PlanesF32Kernels* kernels;
  void (*rows)(const PlanesRowsF32&, const float*, float*, std::int64_t, std::int64_t);   // null: not for these windows
  const MoveKernels* moves;
  ConvShape shape;
  std::int64_t lines, columns, blocks;
  Space space;
  std::vector<std::int64_t> taps;   // of a group
  F32Epilogue epilogue;
};
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const ConvShape s(p);
  const auto& rows = c[0] == kGemmAvx512 ? tenfold_planes_rows_f32_avx512 : tenfold_planes_rows_f32_avx2;
  auto kernel = std::make_shared<Kernel>(Kernel{&planes_kernels(c[0]), by_rows(s) ? rows.run[(s.kernel[1] - 3) / 2] : nullptr,
                                                &moves_of(c[0]), s, c[1], c[2], c[3], Space(s, c), {}, F32Epilogue(p, 1, own_bias(p))});
  kernel->taps = kernel->space.planes.taps(0, s.depth);
  return kernel;
}

// After the results: what the epilogue wants.
std::int64_t own_bytes(const Space& space) { return round_up(space.floats() * 4, 64); }
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  return own_bytes(Space(ConvShape(p), c)) + F32Epilogue(p, 1, own_bias(p)).scratch_bytes();
}

// Some positions of some images' filters.
class Part {
 public:
  Part(const Kernel& kernel, const RunArgs& args, const ConvExtents& e, const F32Epilogue::Binding& bound, std::int64_t image,
       const Three& at, float* scratch) noexcept
      : kernel_(kernel), args_(args), e_(e), bound_(bound), batch_(image), at_(at), to_(ConvExtents(args.out[0], args.out[0]).x_stride),
        lines_(std::min(kernel.lines, e.out[1] - at[1])), columns_(std::min(kernel.columns, e.out[2] - at[2])), planes_(scratch),
        results_(scratch + kernel.space.room), rest_(scratch + own_bytes(kernel.space) / 4) {}

  // Blocks [first, last) of the filters of all groups.
  void run(std::int64_t first, std::int64_t last) noexcept {
    const ConvShape& s = kernel_.shape;
    const std::int64_t of_group = planes_blocks(s);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t group = i / of_group, block = i % of_group;
      if (i == first || block == 0) fill(group);
      const std::int64_t begin = planes_block_begin(s, block);
      filters(group * s.width + begin, planes_block_begin(s, block + 1) - begin);
    }
  }

 private:
  void fill(std::int64_t group) noexcept {
    const Bound& x = args_.in[0];
    const float* const from = x.as<const float>() + batch_ * e_.x_batch + group * kernel_.shape.depth * x.strides[1];
    kernel_.space.planes.fill(e_, from, x.strides[1], at_, *kernel_.moves, planes_);
  }
  void filters(std::int64_t first, std::int64_t count) noexcept {
    const GemmF32EpilogueArgs& f = bound_.epilogue;
    const ConvShape& s = kernel_.shape;
    const float* const weights = args_.in[1].as<const float>() + first * planes_steps(s);
    const std::int64_t pitch = kernel_.space.planes.pitch();
    if (kernel_.rows && lines_ >= kPlanesRows) {
      line_ = kernel_.space.pitch;
      const PlanesRowsF32 p{kernel_.taps.data(), weights, s.kernel[2], f.bias ? f.bias[first] : 0.f, f.low, f.high, f.clamp, pitch, line_};
      kernel_.rows(p, planes_, results_, lines_, columns_);
    } else {
      line_ = pitch;
      const PlanesF32 p{.taps = kernel_.taps.data(),
                        .weights = weights,
                        .steps = planes_steps(s),
                        .bias = f.bias ? f.bias + first : nullptr,
                        .low = f.low,
                        .high = f.high,
                        .clamp = f.clamp,
                        .pitch = kernel_.space.results};
      kernel_.kernels->run[count - 1](p, planes_, results_, (lines_ - 1) * pitch + columns_);
    }
    for (std::int64_t line = 0; line < lines_; ++line) give(first, count, line);
  }
  // A line of results, without what lies between lines.
  void give(std::int64_t first, std::int64_t count, std::int64_t line) noexcept {
    const float* const from = results_ + line * line_;
    const std::int64_t y = at_[1] + line;
    if (!kernel_.epilogue.in_registers())
      return kernel_.epilogue.apply(bound_, batch_ * kernel_.shape.filters + first, count, (at_[0] * e_.out[1] + y) * e_.out[2] + at_[2],
                                    columns_, from, kernel_.space.results, rest_);
    const Bound& out = args_.out[0];
    float* const to = out.as<float>() + batch_ * out.strides[0] + first * out.strides[1] + at_[0] * to_[0] + y * to_[1] + at_[2];
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * out.strides[1], from + i * kernel_.space.results, static_cast<std::size_t>(columns_) * 4);
  }

  const Kernel& kernel_;
  const RunArgs& args_;
  const ConvExtents& e_;
  const F32Epilogue::Binding& bound_;
  std::int64_t batch_;
  Three at_, to_;   // the first position; from one position of the result to the next
  std::int64_t lines_, columns_, line_ = 0;   // of the part; floats from one line of results to the next
  float *planes_, *results_, *rest_;
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvExtents e(args.in[0], args.out[0]);
  if (e.rows() == 0) return Status::ok;
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::spatial(args.out[0].rank), bound);
  const std::int64_t all = kernel.shape.groups * planes_blocks(kernel.shape), pieces = ceil_div(all, kernel.blocks);
  const std::int64_t across = ceil_div(e.out[2], kernel.columns), down = ceil_div(e.out[1], kernel.lines);
  args.parallel->for_each(e.batch * pieces * e.out[0] * down * across, [&](std::int64_t i, int worker) noexcept {
    const std::int64_t piece = i / across / down / e.out[0] % pieces;
    const Three at{i / across / down % e.out[0], i / across % down * kernel.lines, i % across * kernel.columns};
    Part part(kernel, args, e, bound, i / across / down / e.out[0] / pieces, at, args.scratch_of<float>(worker));
    part.run(piece * all / pieces, (piece + 1) * all / pieces);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_plain() {
  return packed_tactic({.name = "conv_plain", .ops = {"Conv"}, .formats = formats, .worker_scratch = worker_scratch},
                       {supports, configs, valid, planes_packed_bytes, planes_pack, planes_unpack, open, run, conv_work});
}

}  // namespace tenfold::backends
