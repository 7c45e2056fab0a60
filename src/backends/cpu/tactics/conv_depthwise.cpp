// conv_depthwise: convolution in which every channel has a filter of its own, vectors along the channels; channels-last, or in blocks of
// one vector, each of which is then an image of its own.
#include "backends/cpu/block/channel_blocks.h"
#include "backends/cpu/gemm/gemm_f32.h"
#include "backends/cpu/gemm/window_rows.h"
#include "backends/cpu/kernels/depthwise_f32.h"
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
  if (s.taps() > kMostTaps) return Verdict::no("the kernel has too many taps");
  if (is_blocked(p.in[0])) {
    if (const Verdict blocks = suits_blocks(p); !blocks) return blocks;
    return F32End::supports(p, 1, own_bias(p));
  }
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return F32End::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all{conv_formats(p, kChannelsLast, kChannelsLast)};
  if (std::optional<Formats> blocks = blocked_formats(p)) all.push_back(std::move(*blocks));
  return all;
}

// The same panels as a product's with one k: columns are channels.
GemmF32Weights weights_of(const ConvShape& s, std::int64_t isa) {
  return {.taps = s.taps(), .k = 1, .n = s.channels, .k_block = 1, .panel = kernels_of(isa).panel};
}

// {instruction set, positions of a block, channels of a block}
std::vector<Config> configs(const Problem& p) {
  const ConvShape s(p);
  const std::int64_t isa = best_gemm_isa(*p.device), rows = conv_likely_rows(p);
  if (is_blocked(p.in[0])) return {{isa, 1 << 10, p.in[0].layout.block}};   // of one image
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

// A block of channels may be the second half of a panel, from which kernels for whole panels read on.
std::int64_t floats_behind(const Problem& p, const Config& c) { return is_blocked(p.in[0]) ? kernels_of(c[0]).panel : 0; }

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  return input == 1 ? (weights_of(ConvShape(p), c[0]).floats() + floats_behind(p, c)) * 4 : -1;
}

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const GemmF32Weights w = weights_of(ConvShape(p), c[0]);
  const float* from = constants[1]->data<float>();
  pack_f32(w, static_cast<float*>(packed),
           [&](std::int64_t tap, std::int64_t, std::int64_t channel) { return from[channel * w.taps + tap]; });
  std::fill_n(static_cast<float*>(packed) + w.floats(), floats_behind(p, c), 0.f);
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const GemmF32Weights w = weights_of(ConvShape(p), c[0]);
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  float* to = weight.mutable_data<float>();
  for (std::int64_t channel = 0; channel < w.n; ++channel)
    for (std::int64_t tap = 0; tap < w.taps; ++tap) to[channel * w.taps + tap] = static_cast<const float*>(packed)[w.slot(tap, 0, channel)];
  return weight;
}

struct Kernel {
  const DepthwiseF32Kernels* kernels;
  ConvShape shape;
  GemmF32Weights weights;
  std::int64_t block_rows, block_channels;
  const DepthwiseF32Line* line;  // [results - 1]; null: no such kernel
  F32End end;
  std::vector<float> zeros;  // a position of padding
  std::int64_t block = 0;    // of channels, and which operands lie in such blocks; 0: channels-last
  std::vector<char> blocked;
};

const DepthwiseF32Line* line_kernels(const DepthwiseF32Kernels& kernels, const ConvShape& s) {
  const std::int64_t wide = s.kernel[2], stride = s.stride[2];
  if ((wide != 3 && wide != 5) || stride > 2 || s.dilation[2] != 1 || s.begin[2] >= wide) return nullptr;
  return kernels.line[wide == 5][stride - 1];
}

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &kernels_of(c[0]);
  kernel->shape = ConvShape(p);
  kernel->weights = weights_of(kernel->shape, c[0]);
  kernel->block_rows = c[1], kernel->block_channels = c[2];
  kernel->line = line_kernels(*kernel->kernels, kernel->shape);
  kernel->end = F32End(p, 1, own_bias(p));
  kernel->zeros.assign(static_cast<std::size_t>(kernel->shape.channels), 0.f);
  if (is_blocked(p.in[0])) kernel->block = p.in[0].layout.block;
  for (const OperandDesc& in : p.in) kernel->blocked.push_back(is_blocked(in));
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config&) { return F32End(p, 1, own_bias(p)).scratch_bytes(); }

// One block: positions of the result, channels [first, last) of them.
class BlockRun {
 public:
  BlockRun(const Kernel& kernel, const RunArgs& args, const ConvExtents& extents, const WindowRows& windows, const F32End::Binding& bound,
           std::int64_t first, std::int64_t last) noexcept
      : kernel_(kernel), args_(args), extents_(extents), windows_(windows), bound_(bound), first_(first), last_(last) {
    tile_.offset = first;
    tile_.taps = kernel.weights.taps;
    panel_ = args.in[1].as<const float>() + kernel.weights.at(0, first / kernel.weights.panel) + first % kernel.weights.panel;
    tile_.panel = panel_;
    tile_.c_stride = args.out[0].strides[args.out[0].rank - 1];
    tile_.cols = last - first;
    // The last window of a line has to begin inside it.
    by_line_ = kernel.line != nullptr && (extents.out[2] - 1) * kernel.shape.stride[2] - kernel.shape.begin[2] < extents.in[2];
    by_strip_ = !by_line_ && extents.out[2] > 1 && kernel.weights.taps > 1;   // one pointer a position is no more than a strip's numbers
  }

  bool by_line() const noexcept { return by_line_ || by_strip_; }
  // Positions [row, row + count), if by_line() of one line of the result.
  void line(std::int64_t row, std::int64_t count, void* scratch) noexcept {
    if (by_line_)
      in_line(row, count);
    else if (by_strip_)
      in_strips(row, count);
    else
      by_windows(row, count);
    if (!kernel_.end.in_registers())
      kernel_.end.apply(bound_, row, count, first_, last_ - first_, result(row), tile_.c_stride, scratch);
  }

 private:
  float* result(std::int64_t row) const noexcept { return args_.out[0].as<float>() + row * tile_.c_stride + first_; }

  template <class Run>
  void each_tile(std::int64_t row, const RowTiles& tiles, Run&& run) noexcept {
    for (std::int64_t i = 0; i < tiles.count; ++i) {
      const std::int64_t first = row + tiles.begin(i), height = tiles.begin(i + 1) - tiles.begin(i);
      const GemmF32Finish finish = bound_.at(first, first_);
      tile_.c = result(first);
      tile_.finish = bound_.any ? &finish : nullptr;
      run(height);
    }
  }

  // Any windows: a pointer for each tap.
  void by_windows(std::int64_t row, std::int64_t count) noexcept {
    const std::int64_t taps = tile_.taps, most = table_rows(taps, kernel_.kernels->max_rows);
    for (std::int64_t some; count > 0; row += some, count -= some) {
      some = std::min(count, most);
      const RowTiles tiles(some, kernel_.kernels->max_rows);
      const float* table[kRowTable];
      fill_windows(windows_, row, tiles, kernel_.kernels->max_rows, table);
      windows_tiles(row, tiles, table, 0, tiles.higher);
      windows_tiles(row, tiles, table, tiles.higher, tiles.count);
    }
  }
  // Tiles [first, last), which are equally high.
  void windows_tiles(std::int64_t row, const RowTiles& tiles, const float* const* table, std::int64_t first, std::int64_t last) noexcept {
    if (first == last) return;
    const std::int64_t begin = row + tiles.begin(first);
    const GemmF32Finish finish = bound_.at(begin, first_);
    tile_.c = result(begin);
    tile_.finish = bound_.any ? &finish : nullptr;
    tile_.rows = table + first * tile_.taps * kernel_.kernels->max_rows;
    kernel_.kernels->tile[tiles.begin(first + 1) - tiles.begin(first) - 1](tile_, last - first);
  }

  // Windows of which all taps lie within the line together, those at its ends one by one.
  void in_strips(std::int64_t row, std::int64_t count) noexcept {
    const ConvShape& s = kernel_.shape;
    const float* lines[kMostTaps];
    std::int64_t numbers[kMostTaps];
    DepthwiseF32Strip strip{.lines = lines,
                            .first = numbers,
                            .count = existing_lines(row, lines, numbers),
                            .tap_step = s.dilation[2] * extents_.x_stride[2],
                            .step = s.stride[2] * extents_.x_stride[2]};
    const std::int64_t wide = s.kernel[2], length = extents_.in[2], begin = row % extents_.out[2] * s.stride[2] - s.begin[2];
    const std::int64_t room = length - 1 - (wide - 1) * s.dilation[2] - begin;   // to where the last of them begins
    const std::int64_t inside = begin < 0 ? std::min(count, ceil_div(-begin, s.stride[2])) : 0;
    const std::int64_t outside = room < 0 ? inside : std::clamp(room / s.stride[2] + 1, inside, count);
    const auto alone = [&](std::int64_t i) noexcept {
      const std::int64_t at = begin + i * s.stride[2];
      const std::int64_t first = at < 0 ? std::min(wide, ceil_div(-at, s.dilation[2])) : 0;
      const std::int64_t last = at < length ? std::min(wide, (length - 1 - at) / s.dilation[2] + 1) : 0;
      one_strip(strip, row, i, 1, first, std::max<std::int64_t>(last - first, 0));
    };
    for (std::int64_t i = 0; i < inside; ++i) alone(i);
    const RowTiles tiles(outside - inside, kernel_.kernels->max_rows);
    for (std::int64_t i = 0; i < tiles.count; ++i)
      one_strip(strip, row, inside + tiles.begin(i), tiles.begin(i + 1) - tiles.begin(i), 0, wide);
    for (std::int64_t i = outside; i < count; ++i) alone(i);
  }

  // Results [row + i, row + i + height), from `taps` taps of each line, of which `tap` is the first.
  void one_strip(DepthwiseF32Strip& strip, std::int64_t row, std::int64_t i, std::int64_t height, std::int64_t tap,
                 std::int64_t taps) noexcept {
    const GemmF32Finish finish = bound_.at(row + i, first_);
    tile_.c = result(row + i);
    tile_.finish = bound_.any ? &finish : nullptr;
    tile_.offset = first_ + i * strip.step + tap * strip.tap_step;
    tile_.panel = panel_ + tap * kernel_.weights.panel;
    strip.taps = taps;
    kernel_.kernels->strip[height - 1](tile_, strip);
  }

  // The lines of the kernel that lie within the image, and the numbers of their first taps.
  std::int64_t existing_lines(std::int64_t row, const float** lines, std::int64_t* numbers) const noexcept {
    const std::int64_t all = find_lines(row, lines, numbers);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < all; ++i) {
      if (numbers[i] == 0) continue;   // no step: a line of zeros
      lines[count] = lines[i];
      numbers[count++] = i * kernel_.shape.kernel[2];
    }
    return count;
  }

  // A pointer for each line of the kernel.
  void in_line(std::int64_t row, std::int64_t count) noexcept {
    const float* lines[kMostTaps];
    std::int64_t steps[kMostTaps];
    const std::int64_t all = find_lines(row, lines, steps), stride = kernel_.shape.stride[2];
    std::int64_t x = row % extents_.out[2] * stride - kernel_.shape.begin[2];  // of the input
    tile_.rows = lines;
    each_tile(row, RowTiles(count, kDepthwiseLine), [&](std::int64_t height) {
      kernel_.line[height - 1](tile_, {.steps = steps, .first = -x, .last = extents_.in[2] - x, .zeros = kernel_.zeros.data()});
      x += height * stride;
      for (std::int64_t i = 0; i < all; ++i) lines[i] += height * stride * steps[i];
    });
  }

  std::int64_t find_lines(std::int64_t row, const float** lines, std::int64_t* steps) const noexcept {
    const ConvShape& s = kernel_.shape;
    const Three& out = extents_.out;
    const std::int64_t x = row % out[2], y = row / out[2] % out[1], z = row / out[2] / out[1] % out[0];
    const std::int64_t batch = row / out[2] / out[1] / out[0], position = x * s.stride[2] - s.begin[2];
    const float* const image = args_.in[0].as<const float>() + batch * extents_.x_batch + position * extents_.x_stride[2];
    std::int64_t count = 0;
    for (std::int64_t kz = 0; kz < s.kernel[0]; ++kz) {
      const std::int64_t iz = z * s.stride[0] - s.begin[0] + kz * s.dilation[0];
      for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky, ++count) {
        const std::int64_t iy = y * s.stride[1] - s.begin[1] + ky * s.dilation[1];
        const bool exists = iz >= 0 && iz < extents_.in[0] && iy >= 0 && iy < extents_.in[1];
        lines[count] = exists ? image + iz * extents_.x_stride[0] + iy * extents_.x_stride[1] : kernel_.zeros.data();
        steps[count] = exists ? extents_.x_stride[2] : 0;
      }
    }
    return count;
  }

  const Kernel& kernel_;
  const RunArgs& args_;
  const ConvExtents& extents_;
  const WindowRows& windows_;
  const F32End::Binding& bound_;
  std::int64_t first_, last_;
  bool by_line_, by_strip_;
  const float* panel_;   // of the first tap
  GemmF32Tile tile_;
};

void run_lines(BlockRun& block, std::int64_t first, std::int64_t last, std::int64_t line, void* scratch) noexcept {
  for (std::int64_t row = first, count; row < last; row += count) {
    count = block.by_line() ? std::min(last - row, line - row % line) : last - row;
    block.line(row, count, scratch);
  }
}

// A part is some positions of one block of channels of one image.
Status::Code run_blocks(const Kernel& kernel, const RunArgs& args) noexcept {
  const std::int64_t channels = kernel.shape.channels, groups = ceil_div(channels, kernel.block);
  const ConvExtents whole(args.in[0], args.out[0]);
  const std::int64_t rows = whole.positions(), blocks = ceil_div(rows, kernel.block_rows);
  if (whole.batch == 0 || rows == 0) return Status::ok;
  args.parallel->for_each(whole.batch * groups * blocks, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t i = part % blocks, image = part / blocks, first = image % groups * kernel.block;
    const BlockOfChannels operands(args, kernel.blocked, kernel.block, image / groups, first);
    const RunArgs& own = operands.args();
    const ConvExtents extents(own.in[0], own.out[0]);
    const WindowRows windows(kernel.shape, extents, own.in[0].as<const float>(), kernel.zeros.data());
    F32End::Binding bound;
    kernel.end.bind(own, TileAxes::channels_last(own.out[0].rank), bound);
    BlockRun block(kernel, own, extents, windows, bound, first, std::min(channels, first + kernel.block));
    run_lines(block, i * rows / blocks, (i + 1) * rows / blocks, extents.out[2], args.scratch_of(worker));
  });
  return Status::ok;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  if (kernel.block) return run_blocks(kernel, args);
  const GemmF32Weights& w = kernel.weights;
  const ConvExtents extents(args.in[0], args.out[0]);
  const std::int64_t rows = extents.rows();
  if (rows == 0) return Status::ok;
  const WindowRows windows(kernel.shape, extents, args.in[0].as<const float>(), kernel.zeros.data());
  F32End::Binding bound;
  kernel.end.bind(args, TileAxes::channels_last(args.out[0].rank), bound);
  const std::int64_t panels = w.panels(), pieces = ceil_div(w.n, std::max<std::int64_t>(kernel.block_channels, w.panel));
  const std::int64_t blocks = ceil_div(rows, kernel.block_rows), line = extents.out[2];
  args.parallel->for_each(blocks * pieces, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t i = part / pieces, j = part % pieces;
    BlockRun block(kernel, args, extents, windows, bound, j * panels / pieces * w.panel,
                   std::min(w.n, (j + 1) * panels / pieces * w.panel));
    run_lines(block, i * rows / blocks, (i + 1) * rows / blocks, line, args.scratch_of(worker));
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_depthwise() {
  return {.name = "conv_depthwise",
          .version = 2,
          .op = "Conv",
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .formats = formats,
          .worker_scratch = worker_scratch,
          .packed_bytes = packed_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .work = conv_work};
}

}  // namespace tenfold::backends
