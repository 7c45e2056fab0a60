// expand_depthwise_bf16: expand_depthwise_lines for bf16, the 1x1 convolution on AMX. A part is some lines of some channels: parts of
// lines make their first lines of the first result twice, parts of channels nothing.
#include "backends/cpu/gemm/bf16/bf16_epilogue.h"
#include "backends/cpu/gemm/bf16/pack_bf16.h"
#include "backends/cpu/gemm/conv/depthwise_bf16_filters.h"
#include "backends/cpu/gemm/heuristics.h"
#include "backends/cpu/kernels/conv/depthwise_bf16.h"
#include "backends/cpu/kernels/conv/expand_bf16.h"
#include "backends/cpu/tactics/conv/expand_depthwise_common.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/packed_tactic.h"
#include "base/types/half.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kVector = kDepthwiseBf16Block, kMaxLines = 64;
constexpr std::int64_t kChunk = 192;  // channels whose filters, as f32, stay in the first cache

Verdict supports(const Problem& p) {
  if (!(p.device->features & kAmxBf16)) return Verdict::no("this machine has no AMX");
  if (const Verdict common = expand_depthwise_supports(p, DType::bf16); !common) return common;
  if (ExpandShape(p).high > kMaxLines) return Verdict::no("the window is too high");
  if (ExpandShape(p).channels % 2 != 0) return Verdict::no("an odd number of channels");
  if (const Verdict epilogue = Bf16Epilogue::supports(p, 1); !epilogue) return epilogue;
  return Verdict::only_if(Bf16Epilogue(p, 1).all_bf16(), "the epilogue is not a sum and a clamp of bf16");
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

GemmBf16B matrix_of(const Problem& p) {
  const ExpandShape s(p);
  return {.taps = 1, .k = s.channels, .n = s.width, .type = DType::bf16};
}

// {lines of a part, channels of a part}
std::vector<Config> configs(const Problem& p) {
  const ExpandShape s(p);
  const std::int64_t lines = std::max<std::int64_t>(likely(p, p.out[0].dims[2], 56), 1);
  std::vector<Config> all;
  const auto add = [&](std::int64_t parts, std::int64_t pieces) {
    const Config c{ceil_div(lines, parts), round_up(ceil_div(s.width, pieces), kVector)};
    if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  };
  add(2, 1), add(1, 2), add(4, 1), add(8, 1), add(1, 4), add(2, 2), add(1, 1);
  return all;
}

Verdict valid(const Problem&, const Config& c) {
  if (c.size() != 2) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[1] > 0 && c[1] < 1 << 30 && c[1] % kVector == 0, "its block sizes are out of range");
}

DepthwiseBf16Filters filters_of(const Problem& p) {
  const ExpandShape s(p);
  return {s.high * s.wide, s.width};
}

std::int64_t packed_bytes(const Problem& p, const Config&, int input) {
  return input == 1 ? matrix_of(p).bytes() : input == 3 ? filters_of(p).bytes() : -1;
}
std::int64_t matrix_element(const GemmBf16B& w, std::int64_t k, std::int64_t n) { return n * w.k + k; }

void pack(const Problem& p, const Config&, int input, std::span<const Tensor* const> constants, void* packed) {
  const GemmBf16B w = matrix_of(p);
  if (input == 1)
    return pack_bf16(w, *constants[1], packed, [&](std::int64_t, std::int64_t k, std::int64_t n) { return matrix_element(w, k, n); });
  filters_of(p).pack(*constants[3], packed);
}

Tensor unpack(const Problem& p, const Config&, int input, const void* packed) {
  const GemmBf16B w = matrix_of(p);
  if (input == 1)
    return unpack_bf16(w, ir::constants(p.in[1].dims), packed,
                       [&](std::int64_t, std::int64_t k, std::int64_t n) { return matrix_element(w, k, n); });
  Tensor original(DType::bf16, ir::constants(p.in[3].dims));
  filters_of(p).unpack(packed, original);
  return original;
}

struct Kernel {
  ExpandShape shape;
  GemmBf16B matrix;
  DepthwiseBf16Line line;
  std::int64_t lines_of_part, channels_of_part;
  float low, high;
  Bf16Epilogue epilogue;
  std::vector<std::uint16_t> zeros;  // a position of padding

  std::int64_t taps() const { return shape.high * shape.wide; }
  // Of a worker: filters and biases as f32, then lines of the first result.
  std::int64_t filter_bytes() const { return channels_of_part * (taps() + 1) * 4; }
  std::int64_t line_bytes() const { return shape.high * channels_of_part * 2; }  // of a position
};

Kernel kernel_of(const Problem& p, const Config& c) {
  const ExpandShape s(p);
  const std::int64_t channels = std::min(c[1], round_up(s.width, kVector));
  return {s, matrix_of(p), tenfold_depthwise_bf16_amx.line[s.wide == 5][s.stride_x - 1], c[0], channels,
          p.attributes->number("low", -kInfinity), p.attributes->number("high", kInfinity), Bf16Epilogue(p, 1),
          std::vector<std::uint16_t>(static_cast<std::size_t>(channels))};
}
std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) { return std::make_shared<Kernel>(kernel_of(p, c)); }
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const Kernel k = kernel_of(p, c);
  return p.in[0].dims[3] * ir::Dim(k.line_bytes()) + ir::Dim(k.filter_bytes());
}

// Some lines of channels [channel, channel + channels) of one image's result.
struct Part {
  const Kernel& k;
  const RunArgs& args;
  const Bf16Epilogue::Binding& bound;
  std::int64_t image, channel, channels;
  char* scratch;
  const ExpandShape& s = k.shape;
  const Bound &x = args.in[0], &y = args.out[0];
  std::int64_t in_high = x.dims[2], in_wide = x.dims[3], out_high = y.dims[2], out_wide = y.dims[3];
  float* const filters = reinterpret_cast<float*>(scratch);
  float* const bias = filters + k.channels_of_part * k.taps();
  std::uint16_t* const ring = reinterpret_cast<std::uint16_t*>(scratch + k.filter_bytes());
  std::int64_t step = k.channels_of_part;

  std::uint16_t* line_of(std::int64_t i) const noexcept { return ring + i % s.high * in_wide * step; }

  // Line i of the first result, with its bias and bounds.
  void expand(std::int64_t i) const noexcept {
    tenfold_expand_bf16_amx.line({.x = x.as<const std::uint16_t>() + image * x.strides[0] + i * x.strides[2],
                                  .positions = in_wide,
                                  .step = x.strides[3],
                                  .channels = s.channels,
                                  .matrix = args.in[1].as<const std::uint16_t>() + channel * k.matrix.depth(),
                                  .panels = ceil_div(channels, kVector),
                                  .depth = k.matrix.depth(),
                                  .bias = bias,
                                  .clamp = k.low > -kInfinity || k.high < kInfinity,
                                  .low = k.low,
                                  .high = k.high,
                                  .out = line_of(i),
                                  .out_step = step});
  }

  // Line `out` of the result.
  void filter(std::int64_t out) const noexcept {
    const std::uint16_t* lines[kMaxLines];
    for (std::int64_t l = 0; l < s.high; ++l) {
      const std::int64_t i = out * s.stride_y - s.top + l;
      lines[l] = i >= 0 && i < in_high ? line_of(i) - s.left * step : nullptr;
    }
    const std::int64_t row = (image * out_high + out) * out_wide, stride = y.strides[3];
    DepthwiseBf16Tile t{.rows = lines, .lines = s.high, .step = step, .first = s.left, .last = in_wide + s.left, .zeros = k.zeros.data(),
                        .c_stride = stride};
    for (std::int64_t at = 0; at < channels; at += kChunk) {
      GemmBf16EpilogueArgs epilogue = bound.epilogue;
      if (epilogue.bias) epilogue.bias += (channel + at) * 2;
      if (epilogue.residual) epilogue.residual += (row * epilogue.residual_stride + channel + at) * 2;
      t.epilogue = &epilogue;
      t.weights = filters + at * k.taps();
      t.offset = at, t.cols = std::min(kChunk, channels - at);
      t.c = y.as<std::uint16_t>() + row * stride + channel + at;
      k.line(t, out_wide);
    }
  }

  void all(std::int64_t first, std::int64_t last) const noexcept {
    tenfold_depthwise_bf16_amx.widen(args.in[3].as<const std::uint16_t>() + channel * k.taps(), ceil_div(channels, kVector) * k.taps(),
                                     filters);
    const auto* from = args.in[2].as<const std::uint16_t>() + channel;
    for (std::int64_t c = 0; c < k.channels_of_part; ++c) bias[c] = c < channels ? bf16_to_float(from[c]) : 0.f;
    if (in_wide > 0) tenfold_expand_bf16_amx.enter(in_wide, s.channels);
    s.walk(first, last, in_wide > 0 ? in_high : 0, [&](std::int64_t i) { expand(i); }, [&](std::int64_t out) { filter(out); });
    if (in_wide > 0) tenfold_expand_bf16_amx.leave();
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& k = *static_cast<const Kernel*>(self);
  const Bound& y = args.out[0];
  if (y.dims[0] * y.dims[2] * y.dims[3] == 0) return Status::ok;  // else the image has positions: windows begin inside it
  Bf16Epilogue::Binding bound;
  k.epilogue.bind(args, TileAxes::channels_last(y.rank), y.strides[y.rank - 1], bound);
  const LineParts parts(y, k.lines_of_part, ceil_div(k.shape.width, k.channels_of_part));
  args.parallel->for_each(parts.count(), [&](std::int64_t i, int worker) noexcept {
    const LineParts::Part part = parts.part(i);
    const std::int64_t channel = part.piece * k.channels_of_part;
    const Part p{k, args, bound, part.image, channel, std::min(k.channels_of_part, k.shape.width - channel), args.scratch_of<char>(worker)};
    p.all(part.first, part.last);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_expand_depthwise_bf16() {
  return packed_tactic({.name = "expand_depthwise_bf16", .ops = {"ExpandDepthwise"}, .formats = formats,
                        .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, expand_depthwise_work});
}

}  // namespace tenfold::backends
