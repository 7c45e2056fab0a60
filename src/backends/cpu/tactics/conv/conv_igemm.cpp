// conv_igemm: channels-last convolution as a product whose rows are the windows of the image, read where they lie.
#include "backends/cpu/gemm/conv/window_rows.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

Verdict supports(const Problem& p) {
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  if (s.taps() > kMaxTaps) return Verdict::no("the kernel has too many taps");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return F32Epilogue::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

GemmF32Weights weights_of(const ConvShape& s, const Config& c) {
  const GemmF32Kernels& kernels = gemm_f32_kernels(c[0]);
  return {.taps = s.taps(), .k = s.depth, .n = s.width, .k_block = c[3], .panel = kernels.panel, .lanes = kernels.lanes};
}

// Groups whose results share cache lines are computed by one worker, which makes the pointers for all of them once. Small weights alone:
// positions have to be cut instead.
bool groups_together(const ConvShape& s) { return s.groups > 1 && s.width < 64 && s.filters * s.depth * s.taps() * 4 <= 512 << 10; }

std::vector<Config> configs(const Problem& p) {
  const ConvShape s(p);
  std::vector<Config> all;
  for (const GemmF32Blocking& c :
       gemm_f32_blockings(*p.device, s.groups, conv_likely_rows(p), s.width, s.taps(), s.depth, true, groups_together(s)))
    all.push_back({c.isa, c.rows, c.cols, c.k});
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0], true); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[1] <= table_rows(ConvShape(p).taps(), gemm_f32_kernels(c[0]).max_rows) && c[2] > 0 &&
                              c[2] < 1 << 30 && c[3] > 0 && c[3] < 1 << 30 &&
                              (gemm_f32_kernels(c[0]).lanes == 1 || c[3] >= ConvShape(p).depth),
                          "its block sizes are out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  const ConvShape s(p);
  return input == 1 ? weights_of(s, c).floats() * s.groups * 4 : -1;
}

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const ConvShape s(p);
  const GemmF32Weights w = weights_of(s, c);
  const float* from = constants[1]->data<float>();
  for (std::int64_t g = 0; g < s.groups; ++g, from += s.width * s.depth * w.taps)
    pack_f32(w, static_cast<float*>(packed) + g * w.floats(),
             [&](std::int64_t tap, std::int64_t i, std::int64_t column) { return from[(column * s.depth + i) * w.taps + tap]; });
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const ConvShape s(p);
  const GemmF32Weights w = weights_of(s, c);
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  float* to = weight.mutable_data<float>();
  for (std::int64_t o = 0; o < s.filters; ++o)
    for (std::int64_t i = 0; i < s.depth; ++i)
      for (std::int64_t tap = 0; tap < w.taps; ++tap)
        *to++ = static_cast<const float*>(packed)[o / s.width * w.floats() + w.slot(tap, i, o % s.width)];
  return weight;
}

struct Kernel {
  const GemmF32Kernels* kernels;
  ConvShape shape;
  GemmF32Weights weights;
  GemmF32Blocking blocking;
  F32Epilogue epilogue;
  std::int64_t near_bytes;   // what of the image may lie in the second cache
  std::vector<float> zeros;  // a position of padding
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &gemm_f32_kernels(c[0]);
  kernel->shape = ConvShape(p);
  kernel->weights = weights_of(kernel->shape, c);
  kernel->blocking = {c[0], c[1], c[2], c[3]};
  kernel->epilogue = F32Epilogue(p, 1, own_bias(p));
  kernel->near_bytes = p.device->l2_bytes / 2;
  kernel->zeros.assign(static_cast<std::size_t>(kernel->shape.channels), 0.f);
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config&) { return F32Epilogue(p, 1, own_bias(p)).scratch_bytes(); }

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const GemmF32Weights& w = kernel.weights;
  const ConvShape& shape = kernel.shape;
  const Bound &x = args.in[0], &y = args.out[0];
  const ConvExtents extents(x, y);
  const std::int64_t m = extents.rows();
  if (m == 0) return Status::ok;
  const WindowRows windows(shape, extents, x.as<const float>(), kernel.zeros.data());
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::channels_last(y.rank), bound);

  const std::int64_t panels = w.panels();
  const std::int64_t pieces = ceil_div(w.n, std::max<std::int64_t>(kernel.blocking.cols, w.panel));  // of a group's columns
  const std::int64_t together = groups_together(shape) ? shape.groups : 1;
  for_each_window_block(
      *args.parallel, windows, m, kernel.blocking.rows, shape.groups / together * pieces, kernel.kernels->max_rows,
      [&](const WindowBlock& b, int worker) {
        const std::int64_t first = b.column / pieces * together, j = b.column % pieces;
        for (std::int64_t group = first; group < first + together; ++group) {
          const GemmF32Block block{.table = b.table,
                                   .rows = b.rows,
                                   .row = b.row,
                                   .offset = group * shape.depth,
                                   .first_panel = j * panels / pieces,
                                   .last_panel = (j + 1) * panels / pieces,
                                   .column = group * shape.width,
                                   .c = y.as<float>(),
                                   .c_stride = y.strides[y.rank - 1],
                                   .far = is_far(m, shape.filters)};
          gemm_f32_block(*kernel.kernels, w, args.in[1].as<const float>() + group * w.floats(), block, kernel.epilogue, bound,
                         args.scratch_of(worker));
        }
      },
      window_slabs(shape, extents, kernel.blocking.rows, kernel.near_bytes));
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_igemm() {
  return packed_tactic({.name = "conv_igemm", .version = 2, .ops = {"Conv"}, .formats = formats,
                        .worker_scratch = worker_scratch,
                        .cases = {"Conv f32[2,16,14,15] f32[24,16,3,3]! f32[24]! pads=[1,1,1,1]"}},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_work});
}

}  // namespace tenfold::backends
