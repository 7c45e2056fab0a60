// conv_depthwise_bf16: convolution of channels-last bf16 images in which every channel has a filter of its own, with f32 sums.
#include "backends/cpu/gemm/bf16/bf16_epilogue.h"
#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/gemm/conv/depthwise_bf16_filters.h"
#include "backends/cpu/kernels/conv/depthwise_bf16.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kVector = kDepthwiseBf16Block, kMaxTaps = 512, kMaxLines = 64;
constexpr std::int64_t kChunk = 192;  // channels of a pass over lines: their weights, as f32, stay in the first cache
constexpr std::int64_t kSegment = 64;  // results of a line, of one vector of channels, whose sums wait for the epilogue
static_assert(kVector == GemmBf16Kernels::kColumns);   // epilogues expect sums so far apart

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

Verdict supports(const Problem& p) {
  if (!(p.device->features & kAmxBf16)) return Verdict::no("needs a CPU with bf16 arithmetic");
  for (std::size_t i = 0; i < 2; ++i)
    if (p.in[i].dtype != DType::bf16) return Verdict::no("operands are not bf16");
  if (const Verdict common = conv_extents_supported(p); !common) return common;
  const ConvShape s(p);
  if (s.depth != 1 || s.width != 1) return Verdict::no("not every channel has exactly one filter of its own");
  if (s.taps() > kMaxTaps) return Verdict::no("the kernel has too many taps");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return Bf16Epilogue::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

// {positions of a block, channels of a block}
std::vector<Config> configs(const Problem& p) {
  const ConvShape s(p);
  const std::int64_t rows = std::max<std::int64_t>(conv_likely_rows(p), 1);
  std::vector<Config> all;
  const auto add = [&](std::int64_t parts, std::int64_t pieces) {
    const Config c{std::max<std::int64_t>(ceil_div(rows, parts), 8), round_up(ceil_div(s.channels, pieces), kVector)};
    if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  };
  for (const std::int64_t parts : {8, 2, 16, 64}) add(parts, 1);
  if (s.channels >= 2 * kVector) add(1, 2), add(2, 2), add(1, 4);
  return all;
}

Verdict valid(const Problem&, const Config& c) {
  if (c.size() != 2) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[1] > 0 && c[1] < 1 << 30 && c[1] % kVector == 0, "its block sizes are out of range");
}

DepthwiseBf16Filters filters_of(const Problem& p) {
  const ConvShape s(p);
  return {s.taps(), s.channels};
}
std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return input == 1 ? filters_of(p).bytes() : -1; }
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  filters_of(p).pack(*constants[1], packed);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  Tensor weight(DType::bf16, ir::constants(p.in[1].dims));
  filters_of(p).unpack(packed, weight);
  return weight;
}

struct Kernel {
  ConvShape shape;
  std::int64_t block_rows, block_channels;
  DepthwiseBf16Line line;  // null: no such kernel
  Bf16Epilogue epilogue;
  std::vector<std::uint16_t> zeros;  // a position of padding

  // Of a worker: weights of a chunk as f32, sums of a tile, what the epilogue needs.
  std::int64_t chunk() const { return epilogue.all_bf16() ? std::min(round_up(shape.channels, kVector), kChunk) : kVector; }
  std::int64_t weight_bytes() const { return chunk() * shape.taps() * 4; }
  std::int64_t sum_bytes() const { return epilogue.all_bf16() ? 0 : kVector * kSegment * 4; }
};

DepthwiseBf16Line line_kernel(const ConvShape& s) {
  const std::int64_t wide = s.kernel[2], stride = s.stride[2];
  if ((wide != 3 && wide != 5) || stride > 2 || s.dilation[2] != 1 || s.begin[2] >= wide) return nullptr;
  if (s.kernel[0] * s.kernel[1] > kMaxLines) return nullptr;
  return tenfold_depthwise_bf16_amx.line[wide == 5][stride - 1];
}

Kernel kernel_of(const Problem& p, const Config& c) {
  const ConvShape s(p);
  return {s, c[0], c[1], line_kernel(s), Bf16Epilogue(p, 1, own_bias(p)), std::vector<std::uint16_t>(static_cast<std::size_t>(s.channels))};
}
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) { return std::make_shared<Kernel>(kernel_of(p, c)); }
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const Kernel k = kernel_of(p, c);
  return k.weight_bytes() + k.sum_bytes() + k.epilogue.scratch_bytes();
}

// Some positions of the result, channels [first, last) of them.
class BlockRun {
 public:
  BlockRun(const Kernel& kernel, const RunArgs& args, const ConvExtents& extents, const Bf16Epilogue::Binding& bound, std::int64_t first,
           std::int64_t last, char* scratch) noexcept
      : kernel_(kernel), args_(args), extents_(extents), bound_(bound), scratch_(scratch), first_(first) {
    const std::int64_t taps = kernel.shape.taps();
    tile_.rows = rows_;
    tile_.step = extents.x_stride[2];
    tile_.zeros = kernel.zeros.data();
    tile_.weights = reinterpret_cast<const float*>(scratch);
    tile_.offset = first, tile_.cols = last - first;
    tile_.c_stride = args.out[0].strides[args.out[0].rank - 1];
    if (!kernel.epilogue.all_bf16()) tile_.sums = reinterpret_cast<float*>(scratch + kernel.weight_bytes()), tile_.c_stride = kVector;
    tenfold_depthwise_bf16_amx.widen(args.in[1].as<const std::uint16_t>() + first * taps, ceil_div(last - first, kVector) * taps,
                                     reinterpret_cast<float*>(scratch));
    // The last window of a line has to begin inside it.
    by_line_ = kernel.line != nullptr && (extents.out[2] - 1) * kernel.shape.stride[2] - kernel.shape.begin[2] < extents.in[2];
  }

  void rows(std::int64_t row, std::int64_t last) noexcept {
    const std::int64_t line = extents_.out[2], max = !by_line_ ? 1 : kernel_.epilogue.all_bf16() ? line : kSegment;
    for (std::int64_t count; row < last; row += count) {
      count = std::min({last - row, line - row % line, max});
      segment(row, count);
    }
  }

 private:
  // Neighboring positions of a line.
  void segment(std::int64_t row, std::int64_t count) noexcept {
    GemmBf16EpilogueArgs epilogue = bound_.epilogue;
    if (!tile_.sums) {
      if (epilogue.bias) epilogue.bias += first_ * 2;
      if (epilogue.residual) epilogue.residual += (row * epilogue.residual_stride + first_) * 2;
      tile_.epilogue = &epilogue;
      tile_.c = args_.out[0].as<std::uint16_t>() + row * tile_.c_stride + first_;
    }
    find_rows(row);
    if (by_line_)
      kernel_.line(tile_, count);
    else
      tenfold_depthwise_bf16_amx.window(tile_);
    if (tile_.sums) apply_epilogue(row, count);
  }
  void apply_epilogue(std::int64_t row, std::int64_t count) const noexcept {
    const Bf16Epilogue::Rows rows{row, count, 1};
    if (!kernel_.epilogue.simple())
      return kernel_.epilogue.apply(tenfold_gemm_bf16_amx, bound_, rows, first_, tile_.cols, tile_.sums, kVector,
                                    scratch_ + kernel_.weight_bytes() + kernel_.sum_bytes());
    GemmBf16Waiting::Row places[kSegment];
    kernel_.epilogue.place(bound_, rows, 0, places);
    tenfold_gemm_bf16_amx.epilogue({.epilogue = &bound_.epilogue, .rows = places, .count = count, .column = first_, .columns = tile_.cols,
                                    .sums = tile_.sums});
  }

  // A pointer for each line of the kernel, or for each tap.
  void find_rows(std::int64_t row) noexcept {
    const ConvShape& s = kernel_.shape;
    const Three& out = extents_.out;
    const std::int64_t x = row % out[2] * s.stride[2] - s.begin[2], y = row / out[2] % out[1], z = row / out[2] / out[1] % out[0];
    const std::uint16_t* const image = args_.in[0].as<const std::uint16_t>() + row / out[2] / out[1] / out[0] * extents_.x_batch;
    tile_.first = -x, tile_.last = extents_.in[2] - x;
    tile_.lines = 0;
    for (std::int64_t kz = 0; kz < s.kernel[0]; ++kz) {
      const std::int64_t iz = z * s.stride[0] - s.begin[0] + kz * s.dilation[0];
      for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky) {
        const std::int64_t iy = y * s.stride[1] - s.begin[1] + ky * s.dilation[1];
        const bool exists = iz >= 0 && iz < extents_.in[0] && iy >= 0 && iy < extents_.in[1];
        const std::int64_t line = iz * extents_.x_stride[0] + iy * extents_.x_stride[1];
        for (std::int64_t kx = 0; kx < (by_line_ ? 1 : s.kernel[2]); ++kx) {
          const std::int64_t ix = x + kx * s.dilation[2];
          const bool inside = exists && (by_line_ || (ix >= 0 && ix < extents_.in[2]));
          rows_[tile_.lines++] = inside ? image + line + ix * extents_.x_stride[2] : nullptr;
        }
      }
    }
  }

  const Kernel& kernel_;
  const RunArgs& args_;
  const ConvExtents& extents_;
  const Bf16Epilogue::Binding& bound_;
  char* scratch_;
  std::int64_t first_;
  bool by_line_;
  DepthwiseBf16Tile tile_;
  const std::uint16_t* rows_[kMaxTaps];
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvExtents extents(args.in[0], args.out[0]);
  const std::int64_t rows = extents.rows(), channels = kernel.shape.channels;
  if (rows == 0) return Status::ok;
  Bf16Epilogue::Binding bound;
  const Bound& y = args.out[0];
  kernel.epilogue.bind(args, TileAxes::channels_last(y.rank), y.strides[y.rank - 1], bound);
  const std::int64_t blocks = ceil_div(rows, kernel.block_rows), pieces = ceil_div(channels, kernel.block_channels);
  args.parallel->for_each(blocks * pieces, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t i = part / pieces, first = part % pieces * kernel.block_channels;
    const std::int64_t last = std::min(channels, first + kernel.block_channels);
    for (std::int64_t channel = first; channel < last; channel += kernel.chunk())
      BlockRun(kernel, args, extents, bound, channel, std::min(last, channel + kernel.chunk()), args.scratch_of<char>(worker))
          .rows(i * rows / blocks, (i + 1) * rows / blocks);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_depthwise_bf16() {
  return packed_tactic({.name = "conv_depthwise_bf16", .ops = {"Conv"}, .formats = formats,
                        .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_work});
}

}  // namespace tenfold::backends
