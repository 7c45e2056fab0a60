// Depthwise convolution of 8-bit channels-last images: vectors of channels, one pointer for each tap of a pixel.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/int8/int8_depthwise.h"
#include "backends/cpu/tactics/int8/conv_int8_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"
#include "base/types/element.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMaxTaps = 128, kChannels = kInt8MaxEpilogueColumns, kPixels = 16;  // channels and pixels of a block of accumulators

const Int8DepthwiseKernels& kernels_of(std::int64_t isa) {
  return isa == kInt8Avx2 ? tenfold_int8_depthwise_avx2 : tenfold_int8_depthwise_avx512;
}

Verdict supports(const Problem& p) {
  const Verdict verdict = conv_int8_supports(p);
  if (!verdict) return verdict;
  const ConvInt8Shape s(p);
  if (s.depth != 1 || s.filters != s.groups)
    return Verdict::no("not depthwise: a filter sees more than one channel, or a channel more than one filter");
  return Verdict::only_if(s.taps() <= kMaxTaps, "the window has more than 128 taps");
}

// Whether the kernel that goes along lines takes it.
bool line_takes(const DeviceInfo& device, const ConvInt8Shape& s) {
  return (device.features & kAvx512) && (device.features & kVnni) && s.kernel == Three{1, 3, 3} && s.dilation == Three{1, 1, 1} &&
         s.stride[2] <= 2;
}

// Lines are faster than the rest wherever they are possible. Channels that do not fill the last block of the wide kernels are copied
// pixel by pixel: the narrow ones may be faster then.
std::vector<Config> configs(const Problem& p) {
  if (line_takes(*p.device, ConvInt8Shape(p))) return {{kInt8Vnni}};
  std::vector<Config> all;
  if (p.device->features & kAvx512) all.push_back({kInt8Avx512});
  const bool fills = ConvInt8Shape(p).channels % tenfold_int8_depthwise_avx512.block == 0;
  if (all.empty() || !fills) all.insert(fills ? all.end() : all.begin(), {kInt8Avx2});
  return all;
}
Verdict valid(const Problem& p, const Config& c) {
  if (c.size() == 1 && c[0] == kInt8Vnni)
    return Verdict::only_if(line_takes(*p.device, ConvInt8Shape(p)), "needs avx512 and vnni, and a 3x3 kernel of stride 1 or 2");
  if (c.size() != 1 || (c[0] != kInt8Avx2 && c[0] != kInt8Avx512)) return Verdict::no("the config names an unknown instruction set");
  return Verdict::only_if(c[0] == kInt8Avx2 || (p.device->features & kAvx512), "needs avx512");
}

// Packed weights: 16-bit weights by channel block, then their sums and zero points; for lines also the weights in 8 bits, their sums
// by channel, and whether there is one that does not fit.
struct Packing {
  std::int64_t block, blocks, pairs;
  bool has_lines;
  Packing(const ConvInt8Shape& s, std::int64_t isa)
      : block(kernels_of(isa).block), blocks(ceil_div(s.channels, block)), pairs(ceil_div(s.taps(), 2)), has_lines(isa == kInt8Vnni) {}
  std::int64_t weight_bytes() const { return checked_mul(checked_mul(blocks * block, pairs), 4); }
  std::int64_t lines_at() const { return checked_add(weight_bytes(), blocks * block * 8); }
  std::int64_t bytes() const { return has_lines ? checked_add(lines_at(), blocks * block * (kInt8LineBytes + 4) + 4) : lines_at(); }
  std::int16_t* weights(void* packed) const { return static_cast<std::int16_t*>(packed); }
  std::int32_t* sums(void* packed) const { return reinterpret_cast<std::int32_t*>(static_cast<char*>(packed) + weight_bytes()); }
  std::int32_t* zeros(void* packed) const { return sums(packed) + blocks * block; }
  std::int8_t* line_weights(void* packed) const { return reinterpret_cast<std::int8_t*>(packed) + lines_at(); }
  std::int32_t* line_sums(void* packed) const {
    return reinterpret_cast<std::int32_t*>(line_weights(packed) + blocks * block * kInt8LineBytes);
  }
  std::int32_t& misfit(void* packed) const { return line_sums(packed)[blocks * block]; }   // exactly 1: some weight needs 16 bits
  static_assert(kInt8LineBlock == 32);
  void pack_line(void* packed, std::int64_t channel, std::int64_t tap, std::int32_t value) const {
    const std::int64_t i = channel % kInt8LineBlock, vector = i % 16 / 4, lane = i / 16 * 4 + i % 4;
    const std::int64_t slot = (channel - i) * kInt8LineBytes + ((tap % 3 * 4 + vector) * 8 + lane) * 4 + tap / 3;
    line_weights(packed)[slot] = static_cast<std::int8_t>(value);
    line_sums(packed)[channel] += value;
    if (value < -128 || value > 127) misfit(packed) = 1;
  }
  // Calls f(channel, position of the channel, tap, index of the weight).
  template <class F>
  void for_each(const ConvInt8Shape& s, F&& f) const {
    for (std::int64_t at = 0; at < blocks * block; ++at) {
      const std::int64_t i = at % block, channel = at - i + int8_depthwise_channel(static_cast<int>(i), static_cast<int>(block));
      if (channel >= s.channels) continue;
      for (std::int64_t t = 0; t < s.taps(); ++t) f(channel, at, t, (at - i) * pairs * 2 + t / 2 * block * 2 + i * 2 + t % 2);
    }
  }
};

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  return input == 1 ? Packing(ConvInt8Shape(p), c[0]).bytes() : -1;
}

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const ConvInt8Shape s(p);
  const Packing packing(s, c[0]);
  std::memset(packed, 0, static_cast<std::size_t>(packing.bytes()));
  const std::vector<std::int32_t> zeros = conv_int8_zeros(p, constants);
  const Tensor& w = *constants[1];
  packing.for_each(s, [&](std::int64_t channel, std::int64_t at, std::int64_t tap, std::int64_t to) {
    const std::int32_t zero = zeros[static_cast<std::size_t>(channel)];
    const auto value = static_cast<std::int32_t>(load_int(w.dtype(), w.raw(), channel * s.taps() + tap)) - zero;
    packing.weights(packed)[to] = static_cast<std::int16_t>(value);
    packing.sums(packed)[at] += value;
    packing.zeros(packed)[at] = zero;
    if (packing.has_lines) packing.pack_line(packed, channel, tap, value);
  });
}

Tensor unpack(const Problem& p, const Config& c, int, const void* data) {
  const ConvInt8Shape s(p);
  const Packing packing(s, c[0]);
  auto* packed = const_cast<void*>(data);
  Tensor w(p.in[1].dtype, ir::constants(p.in[1].dims));
  packing.for_each(s, [&](std::int64_t channel, std::int64_t at, std::int64_t tap, std::int64_t from) {
    store_int(w.dtype(), w.mutable_raw(), channel * s.taps() + tap, packing.weights(packed)[from] + packing.zeros(packed)[at]);
  });
  return w;
}

struct Kernel {
  ConvInt8Shape shape;
  Packing packing;
  const Int8DepthwiseKernels* kernels;
  Int8Epilogue epilogue;
  DType x_type;
  bool has_zero;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const ConvInt8Shape shape(p);
  return std::make_shared<Kernel>(Kernel{shape, Packing(shape, c[0]), &kernels_of(c[0]), Int8Epilogue(p, int8_epilogue_kernels(c[0]), 1),
                                         p.in[0].dtype, int8_operand_given(p, 2)});
}

// A line of output pixels for a block of channels.
struct Line {
  const Kernel& kernel;
  const ConvInt8Extents& extents;
  const char* image;
  const std::int16_t* weights;              // of the first channel block
  std::int64_t n, z, y, channel, channels;  // channels that exist
  const std::int32_t* start;
  const char* border;

  // The inputs of all taps of output pixel x; a window with an odd number of taps ends with a tap of weight 0.
  void find_taps(std::int64_t x, Int8Tap* taps) const {
    const ConvInt8Shape& s = kernel.shape;
    const Three& in = extents.in;
    const std::int64_t z0 = z * s.stride[0] - s.begin[0], y0 = y * s.stride[1] - s.begin[1], x0 = x * s.stride[2] - s.begin[2];
    const Int8Tap outside{border, 0};
    for (std::int64_t a = 0; a < s.kernel[0]; ++a) {
      const std::int64_t iz = z0 + a * s.dilation[0];
      for (std::int64_t b = 0; b < s.kernel[1]; ++b) {
        const std::int64_t iy = y0 + b * s.dilation[1];
        const bool inside = iz >= 0 && iz < in[0] && iy >= 0 && iy < in[1];
        const char* line = image + (((n * in[0] + iz) * in[1] + iy) * in[2]) * s.channels + channel;
        for (std::int64_t c = 0; c < s.kernel[2]; ++c) {
          const std::int64_t ix = x0 + c * s.dilation[2];
          *taps++ = inside && ix >= 0 && ix < in[2] ? Int8Tap{line + ix * s.channels, s.stride[2] * s.channels} : outside;
        }
      }
    }
    if (s.taps() % 2) *taps = outside;
  }

  void run(std::int64_t first, std::int64_t count, std::int32_t* acc, std::int64_t acc_stride) const {
    const Int8DepthwiseKernels& k = *kernel.kernels;
    const std::int64_t pairs = (kernel.shape.taps() + 1) / 2, whole = channels / k.block, rest = channels % k.block;
    const bool is_signed = kernel.x_type == DType::i8;
    Int8Tap taps[kMaxTaps + 1];
    for (std::int64_t p = 0; p < count;) {
      const std::int64_t step = p + k.pixels <= count && between_borders(first + p, k.pixels) ? k.pixels : 1;
      find_taps(first + p, taps);
      (step > 1 ? k.many : k.one)(taps, pairs, whole, weights, start, acc + p * acc_stride, acc_stride, is_signed);
      for (std::int64_t i = 0; i < step && rest > 0; ++i) last_block(taps, i, pairs, whole, rest, acc + (p + i) * acc_stride);
      p += step;
    }
  }

  void run_line(const std::int8_t* line_weights, std::int64_t first, std::int64_t count, const Int8EpilogueArgs* epilogue, void* to,
                std::int64_t to_stride) const {
    const ConvInt8Shape& s = kernel.shape;
    const Three& in = extents.in;
    const std::int64_t x = first * s.stride[2] - s.begin[2], y0 = y * s.stride[1] - s.begin[1], z0 = z * s.stride[0] - s.begin[0];
    Int8DepthwiseLine l{.first = -x, .last = in[2] - x, .border = border, .channels = channels, .weights = line_weights, .start = start,
                        .is_signed = kernel.x_type == DType::i8, .epilogue = epilogue};
    for (std::int64_t i = 0; i < 3; ++i) {
      const bool inside = z0 >= 0 && z0 < in[0] && y0 + i >= 0 && y0 + i < in[1];
      l.steps[i] = inside ? s.channels : 0;
      l.lines[i] = inside ? image + (((n * in[0] + z0) * in[1] + y0 + i) * in[2] + x) * s.channels + channel : border;
    }
    tenfold_int8_depthwise_line_vnni(l, count, s.stride[2], to, to_stride);
  }

  // Whether no window of the pixels [x, x + count) crosses the left or right border: then taps are inside for all or for none.
  bool between_borders(std::int64_t x, std::int64_t count) const {
    const ConvInt8Shape& s = kernel.shape;
    const std::int64_t low = x * s.stride[2] - s.begin[2], high = low + (count - 1) * s.stride[2] + (s.kernel[2] - 1) * s.dilation[2];
    return low >= 0 && high < extents.in[2];
  }

  // Fewer channels than a block: copied first, so that nothing beyond the image is read.
  void last_block(const Int8Tap* taps, std::int64_t pixel, std::int64_t pairs, std::int64_t blocks, std::int64_t rest,
                  std::int32_t* acc) const {
    const Int8DepthwiseKernels& k = *kernel.kernels;
    const std::int64_t at = blocks * k.block;
    char copy[kMaxTaps + 1][32];  // what lies beyond the channels is multiplied by zero
    Int8Tap copied[kMaxTaps + 1];
    for (std::int64_t t = 0; t < 2 * pairs; ++t) {
      std::memcpy(copy[t], taps[t].data + pixel * taps[t].step + at, static_cast<std::size_t>(rest));
      copied[t] = {copy[t], 0};
    }
    k.one(copied, pairs, 1, weights + at * pairs * 2, start + at, acc + at, 0, kernel.x_type == DType::i8);
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvInt8Shape& s = kernel.shape;
  const ConvInt8Extents extents(args.in[0], args.out[0]);
  const std::int32_t zero = kernel.has_zero ? int8_zero_point(args, 2, kernel.x_type) : 0;
  const Packing& packing = kernel.packing;
  void* const packed = args.in[1].data;
  const bool by_lines = packing.has_lines && packing.misfit(packed) != 1, is_signed = kernel.x_type == DType::i8;
  Int8Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::channels_last(args.out[0].rank), s.channels, bound);
  const Three& out = extents.out;
  const std::int64_t lines = extents.batch * out[0] * out[1], channel_blocks = ceil_div(s.channels, kChannels);
  auto* start = reinterpret_cast<std::int32_t*>(static_cast<char*>(args.workspace) + kernel.epilogue.workspace_bytes());
  kernel.epilogue.kernels().start(nullptr, by_lines ? packing.line_sums(packed) : packing.sums(packed),
                                  zero + (by_lines && is_signed ? 128 : 0), packing.blocks * packing.block, start);
  alignas(64) char border[kChannels];
  std::memset(border, zero, sizeof border);
  args.parallel->for_each(lines * channel_blocks, [&](std::int64_t part, int worker) {
    alignas(64) std::int32_t acc[kPixels * kChannels];
    const std::int64_t line = part / channel_blocks, channel = part % channel_blocks * kChannels;
    const std::int64_t channels = std::min(kChannels, s.channels - channel), padded = round_up_to(channels, packing.block);
    const Line work{kernel,
                    extents,
                    args.in[0].as<const char>(),
                    packing.weights(packed) + channel * packing.pairs * 2,
                    line / out[1] / out[0],
                    line / out[1] % out[0],
                    line % out[1],
                    channel,
                    channels,
                    start + channel,
                    border};
    const std::int8_t* line_weights = packing.line_weights(packed) + channel * kInt8LineBytes;
    if (const auto epilogue = kernel.epilogue.plain_bytes(bound, channel); by_lines && epilogue) {
      char* to = args.out[0].as<char>() + line * out[2] * s.channels + channel;
      return work.run_line(line_weights, 0, out[2], &*epilogue, to, s.channels);
    }
    for (std::int64_t x = 0; x < out[2]; x += kPixels) {
      const std::int64_t count = std::min(kPixels, out[2] - x);
      if (by_lines)
        work.run_line(line_weights, x, count, nullptr, acc, padded);
      else
        work.run(x, count, acc, padded);
      kernel.epilogue.apply(bound, line * out[2] + x, count, channel, channels, acc, padded, args.scratch_of(worker));
    }
  });
  return Status::ok;
}

ir::Dim worker_scratch(const Problem& p, const Config& c) { return Int8Epilogue(p, int8_epilogue_kernels(c[0]), 1).scratch_bytes(); }
ir::Dim workspace(const Problem& p, const Config& c) {
  const Packing packing(ConvInt8Shape(p), c[0]);
  return Int8Epilogue(p, int8_epilogue_kernels(c[0]), 1).workspace_bytes() + packing.blocks * packing.block * 4;
}

}  // namespace

Tactic cpu_conv_int8_depthwise() {
  return packed_tactic({.name = "conv_int8_depthwise", .version = 4, .ops = {"ConvInteger"},
                        .formats = conv_int8_formats, .workspace = workspace, .worker_scratch = worker_scratch,
                        .cases = {"ConvInteger u8[1,32,9,11](0,255) i8[32,1,3,3](-128,127)! u8[]{128} group=32 "
                                  "pads=[1,1,1,1]"}},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_int8_work});
}

}  // namespace tenfold::backends
