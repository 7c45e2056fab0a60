// conv_transpose_gemm: transposed convolution whose windows do not overlap (stride equals kernel): one product per tap, each
// result row written to its place in the enlarged image.
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/tactics/conv/conv_transpose_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }
Verdict supports(const Problem& p) {
  if (p.in[0].dtype != DType::f32 || p.in[1].dtype != DType::f32) return Verdict::no("operands are not f32");
  if (const Verdict apart = conv_transpose_apart(p); !apart) return apart;
  return F32Epilogue::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

// Columns of all taps side by side: tap t has the panels from t * panels() on.
GemmF32Weights weights_of(const ConvShape& s, const Config& c) {
  return {.taps = 1, .k = s.channels, .n = s.filters, .k_block = c[2], .panel = gemm_f32_kernels(c[0]).panel};
}

// {instruction set, lines of a part, depth of a block}
std::vector<Config> configs(const Problem& p) {
  const ConvShape s = conv_transpose_shape(p);
  const std::int64_t isa = best_gemm_isa(*p.device);
  std::vector<Config> all;
  for (const std::int64_t lines : {4, 16, 1})
    for (const std::int64_t k : {s.channels, std::min<std::int64_t>(s.channels, 256)})
      if (const Config c{isa, lines, k}; std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[1] < 1 << 20 && c[2] > 0 && c[2] < 1 << 30, "its block sizes are out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  const ConvShape s = conv_transpose_shape(p);
  return input == 1 ? weights_of(s, c).floats() * s.taps() * 4 : -1;
}

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const ConvShape s = conv_transpose_shape(p);
  const GemmF32Weights w = weights_of(s, c);
  const float* from = constants[1]->data<float>();
  for (std::int64_t tap = 0; tap < s.taps(); ++tap)
    pack_f32(w, static_cast<float*>(packed) + tap * w.floats(),
             [&](std::int64_t, std::int64_t k, std::int64_t n) { return from[(k * s.filters + n) * s.taps() + tap]; });
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const ConvShape s = conv_transpose_shape(p);
  const GemmF32Weights w = weights_of(s, c);
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  float* to = weight.mutable_data<float>();
  for (std::int64_t tap = 0; tap < s.taps(); ++tap)
    for (std::int64_t k = 0; k < s.channels; ++k)
      for (std::int64_t n = 0; n < s.filters; ++n)
        to[(k * s.filters + n) * s.taps() + tap] = static_cast<const float*>(packed)[tap * w.floats() + w.slot(0, k, n)];
  return weight;
}

struct Kernel {
  const GemmF32Kernels* kernels;
  ConvShape shape;
  GemmF32Weights weights;
  std::int64_t lines;
  F32Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &gemm_f32_kernels(c[0]);
  kernel->shape = conv_transpose_shape(p);
  kernel->weights = weights_of(kernel->shape, c);
  kernel->lines = c[1];
  kernel->epilogue = F32Epilogue(p, 1, own_bias(p));
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config&) { return F32Epilogue(p, 1, own_bias(p)).scratch_bytes(); }

struct LineRun {
  const Kernel& kernel;
  const RunArgs& args;
  const ConvExtents& extents;
  const F32Epilogue::Binding& bound;
  const F32Epilogue at_once{};  // stores sums, runs no body

  // The positions [x0, x0 + count) of line `line` of the input, for all taps.
  void piece(std::int64_t line, std::int64_t x0, std::int64_t count) const noexcept {
    const ConvShape& s = kernel.shape;
    const GemmF32Weights& w = kernel.weights;
    const std::int64_t y = line % extents.in[1], z = line / extents.in[1] % extents.in[0], n = line / extents.in[1] / extents.in[0];
    const float* table[kRowTable];
    const float* first = args.in[0].as<const float>() + n * extents.x_batch + z * extents.x_stride[0] + y * extents.x_stride[1];
    fill_table(RowTiles(count, kernel.kernels->max_rows), 1, kernel.kernels->max_rows, table,
               [&](std::int64_t row, const float** entry) { *entry = first + (x0 + row) * extents.x_stride[2]; });
    const Bound& out = args.out[0];
    const std::int64_t y_stride = out.strides[out.rank - 1];
    std::int64_t tap = 0;
    for (std::int64_t kz = 0; kz < s.kernel[0]; ++kz) {
      for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky) {
        for (std::int64_t kx = 0; kx < s.kernel[2]; ++kx, ++tap) {
          const std::int64_t to = ((n * extents.out[0] + z * s.kernel[0] + kz) * extents.out[1] + y * s.kernel[1] + ky) * extents.out[2] +
                                  x0 * s.kernel[2] + kx;
          F32Epilogue::Binding here;  // rows lie kernel[2] positions apart
          here.epilogue = bound.epilogue, here.any = bound.any;
          if (here.epilogue.residual)
            here.epilogue.residual += to * here.epilogue.residual_stride, here.epilogue.residual_stride *= s.kernel[2];
          const GemmF32Block block{.table = table,
                                   .rows = count,
                                   .last_panel = w.panels(),
                                   .c = out.as<float>() + to * y_stride,
                                   .c_stride = s.kernel[2] * y_stride};
          gemm_f32_block(*kernel.kernels, w, args.in[1].as<const float>() + tap * w.floats(), block, at_once, here, nullptr);
        }
      }
    }
  }

  // A line of the input and the lines of the output that it makes.
  void line(std::int64_t line, void* scratch) const noexcept {
    const std::int64_t max = table_rows(1, kernel.kernels->max_rows);
    for (std::int64_t x = 0; x < extents.in[2]; x += max) piece(line, x, std::min(max, extents.in[2] - x));
    if (kernel.epilogue.in_registers()) return;
    const ConvShape& s = kernel.shape;
    const Bound& out = args.out[0];
    const std::int64_t y_stride = out.strides[out.rank - 1], y = line % extents.in[1], plane = line / extents.in[1];
    for (std::int64_t kz = 0; kz < s.kernel[0]; ++kz) {
      for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky) {
        const std::int64_t row = ((plane * s.kernel[0] + kz) * extents.out[1] + y * s.kernel[1] + ky) * extents.out[2];
        kernel.epilogue.apply(bound, row, extents.out[2], 0, s.filters, out.as<const float>() + row * y_stride, y_stride, scratch);
      }
    }
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvExtents extents(args.in[0], args.out[0]);
  if (extents.rows() == 0) return Status::ok;
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::channels_last(args.out[0].rank), bound);
  const LineRun lines{kernel, args, extents, bound};
  const std::int64_t all = extents.batch * extents.in[0] * extents.in[1];
  args.parallel->for_each(ceil_div(all, kernel.lines), [&](std::int64_t part, int worker) noexcept {
    for (std::int64_t i = part * kernel.lines; i < std::min(all, (part + 1) * kernel.lines); ++i)
      lines.line(i, args.scratch_of(worker));
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_transpose_gemm() {
  return packed_tactic({.name = "conv_transpose_gemm", .ops = {"ConvTranspose"}, .formats = formats,
                        .worker_scratch = worker_scratch,
                        .cases = {"ConvTranspose f32[1,20,5,4] f32[20,17,2,2]! f32[17]! strides=[2,2]"}},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_transpose_work});
}

}  // namespace tenfold::backends
