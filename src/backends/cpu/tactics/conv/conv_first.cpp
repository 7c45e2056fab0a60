// conv_first: convolution of few channels (the first layer): a padded channels-last copy of the input makes a whole row of the
// kernel one contiguous stretch, so that the depth of the product is not cut into pieces of three. Takes plain input too.
#include <cstring>

#include "backends/cpu/gemm/conv/window_rows.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

// The convolution on the padded copy: kernel rows are its channels.
ConvShape row_shape(const ConvShape& s) {
  ConvShape r = s;
  r.depth = s.channels * s.kernel[2];
  r.kernel[2] = 1;
  if (s.dilation[2] > 1) r.stride[2] = 1;  // the copy then holds every window's row of its own
  r.begin = {0, 0, 0};
  return r;
}

Verdict supports(const Problem& p) {
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  if (s.groups != 1 || s.channels > 16) return Verdict::no("more than 16 channels, or groups");
  if (s.taps() > kMaxTaps) return Verdict::no("the kernel has too many taps");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return F32Epilogue::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) {
  return {conv_formats(p, kPlain, kChannelsLast), conv_formats(p, kChannelsLast, kChannelsLast)};
}

GemmF32Weights weights_of(const ConvShape& rows, std::int64_t isa) {
  const GemmF32Kernels& kernels = gemm_f32_kernels(isa);
  return {.taps = rows.taps(), .k = rows.depth, .n = rows.width, .k_block = rows.depth, .panel = kernels.panel, .lanes = kernels.lanes};
}

// {instruction set, positions of a block, columns of a block}
std::vector<Config> configs(const Problem& p) {
  const ConvShape r = row_shape(ConvShape(p));
  std::vector<Config> all;
  for (const GemmF32Blocking& c : gemm_f32_blockings(*p.device, 1, conv_likely_rows(p), r.width, r.taps(), r.depth, true)) {
    const Config config{c.isa, c.rows, c.cols};
    if (std::find(all.begin(), all.end(), config) == all.end()) all.push_back(config);
  }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0], true); !runs) return runs;
  const std::int64_t max_value = table_rows(row_shape(ConvShape(p)).taps(), gemm_f32_kernels(c[0]).max_rows);
  return Verdict::only_if(c[1] > 0 && c[1] <= max_value && c[2] > 0 && c[2] < 1 << 30, "its block sizes are out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  return input == 1 ? weights_of(row_shape(ConvShape(p)), c[0]).floats() * 4 : -1;
}

// Calls f(packed element, element of the weight) for all that exist.
template <class F>
void for_each_weight(const Problem& p, const Config& c, F&& f) {
  const ConvShape s(p);
  const GemmF32Weights w = weights_of(row_shape(s), c[0]);
  std::int64_t from = 0;
  for (std::int64_t o = 0; o < s.filters; ++o)
    for (std::int64_t channel = 0; channel < s.channels; ++channel)
      for (std::int64_t tap = 0; tap < w.taps; ++tap)
        for (std::int64_t x = 0; x < s.kernel[2]; ++x) f(w.slot(tap, x * s.channels + channel, o), from++);
}

void pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed) {
  auto* to = static_cast<float*>(packed);
  std::memset(packed, 0, static_cast<std::size_t>(packed_bytes(p, c, input)));
  const float* from = constants[1]->data<float>();
  for_each_weight(p, c, [&](std::int64_t a, std::int64_t b) { to[a] = from[b]; });
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  float* to = weight.mutable_data<float>();
  for_each_weight(p, c, [&](std::int64_t a, std::int64_t b) { to[b] = static_cast<const float*>(packed)[a]; });
  return weight;
}

struct Kernel {
  const GemmF32Kernels* kernels;
  ConvShape shape, rows;
  GemmF32Weights weights;
  std::int64_t block_rows, block_cols;
  F32Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &gemm_f32_kernels(c[0]);
  kernel->shape = ConvShape(p);
  kernel->rows = row_shape(kernel->shape);
  kernel->weights = weights_of(kernel->rows, c[0]);
  kernel->block_rows = c[1], kernel->block_cols = c[2];
  kernel->epilogue = F32Epilogue(p, 1, own_bias(p));
  return kernel;
}

// Extent of the copy in one spatial dim: what the windows reach over, or where the rows of the kernel are dilated all rows one by one.
template <class T>
T padded(const ConvShape& s, std::size_t d, T out) {
  if (d == 2 && s.dilation[2] > 1) return out * s.kernel[2];
  return (out - 1) * s.stride[d] + ((s.kernel[d] - 1) * s.dilation[d] + 1);
}

ir::Dim workspace(const Problem& p, const Config&) {
  const ConvShape s(p);
  ir::Dim floats = p.out[0].dims[0] * s.channels;
  const std::size_t rank = p.out[0].dims.size() - 2;
  for (std::size_t i = 0; i < rank; ++i) floats = floats * max(padded<ir::Dim>(s, 3 - rank + i, p.out[0].dims[2 + i]), ir::Dim(1));
  return (floats + 16) * 4;
}
ir::Dim worker_scratch(const Problem& p, const Config&) { return F32Epilogue(p, 1, own_bias(p)).scratch_bytes(); }

// The rows of `count` dilated windows in a line, one after the other.
void copy_rows(const ConvShape& s, const ConvExtents& e, const float* line, std::int64_t channel_stride, std::int64_t count,
               float* to) noexcept {
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t tap = 0; tap < s.kernel[2]; ++tap) {
      const std::int64_t x = i * s.stride[2] - s.begin[2] + tap * s.dilation[2];
      for (std::int64_t channel = 0; channel < s.channels; ++channel)
        *to++ = x < 0 || x >= e.in[2] ? 0 : line[x * e.x_stride[2] + channel * channel_stride];
    }
}

// One line of the copy: line `y` of plane `z` of an image, zeros where it lies in the padding.
void copy_line(const ConvShape& s, const ConvExtents& e, const float* image, std::int64_t channel_stride, std::int64_t z, std::int64_t y,
               std::int64_t length, float* to) noexcept {
  const std::int64_t iz = z - s.begin[0], iy = y - s.begin[1], c = s.channels;
  const bool outside = iz < 0 || iz >= e.in[0] || iy < 0 || iy >= e.in[1];
  const std::int64_t first = outside ? length : std::min(s.begin[2], length), last = outside ? length : std::min(first + e.in[2], length);
  std::memset(to, 0, static_cast<std::size_t>(first * c) * 4);
  std::memset(to + last * c, 0, static_cast<std::size_t>((length - last) * c) * 4);
  if (outside) return;
  const float* line = image + iz * e.x_stride[0] + iy * e.x_stride[1];
  const std::int64_t step = e.x_stride[2];
  if (s.dilation[2] > 1) return copy_rows(s, e, line, channel_stride, length / s.kernel[2], to);
  if (channel_stride == 1 && step == c) {
    std::memcpy(to + first * c, line, static_cast<std::size_t>((last - first) * c) * 4);
    return;
  }
  if (c == 3 && step == 1) {  // colors of one position are stored together
    const float *red = line, *green = line + channel_stride, *blue = green + channel_stride;
    float* out = to + first * 3;
    for (std::int64_t x = 0; x < last - first; ++x, out += 3) out[0] = red[x], out[1] = green[x], out[2] = blue[x];
    return;
  }
  for (std::int64_t channel = 0; channel < c; ++channel) {
    const float* from = line + channel * channel_stride;
    float* out = to + first * c + channel;
    for (std::int64_t x = 0; x < last - first; ++x) out[x * c] = from[x * step];
  }
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const GemmF32Weights& w = kernel.weights;
  const Bound &x = args.in[0], &y = args.out[0];
  const ConvExtents extents(x, y);
  if (extents.rows() == 0) return Status::ok;
  const std::int64_t c = kernel.shape.channels;
  float* const copy = static_cast<float*>(args.workspace);

  ConvExtents on_copy = extents;
  for (std::size_t d = 0; d < 3; ++d) on_copy.in[d] = padded(kernel.shape, d, extents.out[d]);
  const std::int64_t planes = on_copy.in[0], lines = on_copy.in[1], length = on_copy.in[2];
  on_copy.x_stride = {lines * length * c, length * c, kernel.shape.dilation[2] > 1 ? kernel.rows.depth : c};
  on_copy.x_batch = planes * on_copy.x_stride[0];
  const std::int64_t some = ceil_div(16 << 10, length * c);  // lines of one part
  const std::int64_t all_lines = extents.batch * planes * lines;
  args.parallel->for_each(ceil_div(all_lines, some), [&](std::int64_t part, int) noexcept {
    for (std::int64_t i = part * some; i < std::min(all_lines, (part + 1) * some); ++i) {
      const std::int64_t plane = i / lines;
      copy_line(kernel.shape, extents, x.as<const float>() + plane / planes * extents.x_batch, x.strides[1], plane % planes, i % lines,
                length, copy + i * length * c);
    }
  });

  if (kernel.shape.dilation[2] > 1) on_copy.in[2] = extents.out[2];
  const WindowRows windows(kernel.rows, on_copy, copy, copy);
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::channels_last(y.rank), bound);
  const std::int64_t panels = w.panels(), pieces = ceil_div(w.n, std::max<std::int64_t>(kernel.block_cols, w.panel));
  for_each_window_block(
      *args.parallel, windows, extents.rows(), kernel.block_rows, pieces, kernel.kernels->max_rows, [&](const WindowBlock& b, int worker) {
        const GemmF32Block block{.table = b.table,
                                 .rows = b.rows,
                                 .row = b.row,
                                 .first_panel = b.column * panels / pieces,
                                 .last_panel = (b.column + 1) * panels / pieces,
                                 .c = y.as<float>(),
                                 .c_stride = y.strides[y.rank - 1],
                                 .far = is_far(extents.rows(), w.n)};
        gemm_f32_block(*kernel.kernels, w, args.in[1].as<const float>(), block, kernel.epilogue, bound, args.scratch_of(worker));
      });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_first() {
  return packed_tactic({.name = "conv_first", .version = 2, .ops = {"Conv"}, .formats = formats,
                        .workspace = workspace, .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_work});
}

}  // namespace tenfold::backends
