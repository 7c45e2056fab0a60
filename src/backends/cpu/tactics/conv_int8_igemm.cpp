// Convolution of 8-bit images as a product: the windows of a block of output positions are gathered as rows.
//
// Images are channels-last, so a window is one contiguous run of bytes for each of its lines, and weights are packed in that order.
#include <emmintrin.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/tactics/conv_int8_common.h"
#include "base/checked.h"
#include "base/element.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

// The windows of an image, one row for each output position.
class WindowRows final : public Int8Rows {
 public:
  WindowRows(const ConvInt8Shape& shape, const ConvInt8Extents& extents, const void* image, bool is_signed, std::int32_t zero,
             const Int8Kernels& kernels)
      : shape_(shape), extents_(extents), image_(static_cast<const char*>(image)), signed_(is_signed) {
    // Neighbours along x that are also neighbours in memory make one run.
    merged_ = shape.groups == 1 && shape.dilation[2] == 1;
    small_lines_ = merged_ && shape.kernel[2] * shape.depth <= kShortLine;
    flip_ = kernels.signed_shift != 0 && is_signed ? 0x80 : 0;
    end_ = image_ + extents.batch * extents.in[0] * extents.in[1] * extents.in[2] * shape.channels;
    std::memset(border_, zero, sizeof border_);
  }

  const char* direct(std::int64_t group, std::int64_t row, std::int64_t& stride) const noexcept override {
    if (!shape_.pointwise()) return nullptr;
    stride = shape_.channels;
    return image_ + row * shape_.channels + group * shape_.depth;
  }

  void fill(const Int8Kernels& kernels, std::int64_t group, std::int64_t row, std::int64_t rows, std::int64_t k, std::int64_t count,
            char* to, std::int64_t stride) const noexcept override {
    if (shape_.pointwise()) {
      const char* from = image_ + row * shape_.channels + group * shape_.depth + k;
      for (std::int64_t r = 0; r < rows; ++r) kernels.expand(from + r * shape_.channels, count, signed_, to + r * stride);
      return;
    }
    const bool whole = k == 0 && count == shape_.depth * shape_.taps() && small_lines_ && stride >= count + kShortLine;
    const Three& out = extents_.out;
    std::int64_t x = row % out[2], y = row / out[2] % out[1], z = row / out[2] / out[1] % out[0], n = row / extents_.out_size();
    for (std::int64_t r = 0; r < rows; ++r) {
      if (!whole || !inside_window(n, {z, y, x}, to + r * stride)) window(kernels, group, n, {z, y, x}, k, k + count, to + r * stride);
      if (++x < out[2]) continue;
      x = 0;
      if (++y < out[1]) continue;
      y = 0;
      if (++z < out[0]) continue;
      z = 0;
      ++n;
    }
  }

 private:
  // A whole window of short lines (a first layer has few channels) that the image and what follows it in memory cover: copied by
  // fixed amounts, each line over what the one before wrote too much. False if it is none.
  bool inside_window(std::int64_t n, const Three& at, char* to) const noexcept {
    const Three &s = shape_.stride, &begin = shape_.begin, &in = extents_.in, &dilation = shape_.dilation;
    Three low{at[0] * s[0] - begin[0], at[1] * s[1] - begin[1], at[2] * s[2] - begin[2]};
    for (std::size_t d = 0; d < 3; ++d)
      if (low[d] < 0 || low[d] + (shape_.kernel[d] - 1) * dilation[d] >= in[d]) return false;
    const std::int64_t line = shape_.kernel[2] * shape_.depth, row_bytes = in[2] * shape_.channels;
    const char* plane = image_ + ((n * in[0] + low[0]) * in[1] + low[1]) * row_bytes + low[2] * shape_.channels;
    const char* last = plane + ((shape_.kernel[0] - 1) * dilation[0] * in[1] + (shape_.kernel[1] - 1) * dilation[1]) * row_bytes;
    if (last + kShortLine > end_) return false;
    const __m128i flip = _mm_set1_epi8(static_cast<char>(flip_));
    for (std::int64_t a = 0; a < shape_.kernel[0]; ++a, plane += dilation[0] * in[1] * row_bytes) {
      const char* from = plane;
      for (std::int64_t b = 0; b < shape_.kernel[1]; ++b, from += dilation[1] * row_bytes, to += line) {
        for (std::int64_t i = 0; i < line; i += 16)
          _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                           _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)), flip));
      }
    }
    return true;
  }

  // Values [first, last) of one window, line by line.
  void window(const Int8Kernels& kernels, std::int64_t group, std::int64_t n, const Three& at, std::int64_t first, std::int64_t last,
              char* to) const noexcept {
    const std::int64_t line = shape_.kernel[2] * shape_.depth, skipped = first > 0 ? first / line : 0;
    const std::int64_t z0 = at[0] * shape_.stride[0] - shape_.begin[0], y0 = at[1] * shape_.stride[1] - shape_.begin[1],
                       x0 = at[2] * shape_.stride[2] - shape_.begin[2];
    const std::int64_t row_bytes = extents_.in[2] * shape_.channels;
    const char* image = image_ + n * extents_.in[0] * extents_.in[1] * row_bytes + group * shape_.depth;
    std::int64_t a = skipped > 0 ? skipped / shape_.kernel[1] : 0, b = skipped - a * shape_.kernel[1];
    for (std::int64_t l = skipped * line; l < last; l += line) {
      const std::int64_t z = z0 + a * shape_.dilation[0], y = y0 + b * shape_.dilation[1];
      if (++b == shape_.kernel[1]) b = 0, ++a;
      const std::int64_t from = std::max(first - l, std::int64_t{0}), until = std::min(last - l, line);
      char* line_to = to + l + from - first;
      if (z < 0 || z >= extents_.in[0] || y < 0 || y >= extents_.in[1])
        fill_border(kernels, until - from, line_to);
      else if (merged_)
        run_of_taps(kernels, image + (z * extents_.in[1] + y) * row_bytes, x0, from, until, line_to);
      else
        tap_by_tap(kernels, image + (z * extents_.in[1] + y) * row_bytes, x0, from, until, line_to);
    }
  }

  // Bytes [from, until) of a line that starts at x, all channels and neighbouring taps in one go.
  void run_of_taps(const Int8Kernels& kernels, const char* pixels, std::int64_t x, std::int64_t from, std::int64_t until,
                   char* to) const noexcept {
    const std::int64_t offset = x * shape_.channels, end = extents_.in[2] * shape_.channels;
    const std::int64_t left = std::clamp(-offset, from, until), right = std::clamp(end - offset, left, until);
    if (left > from) fill_border(kernels, left - from, to);
    if (right > left) {
      // Whole vectors where the image goes on: what lies behind the run is overwritten by the next one.
      const char* run = pixels + offset + left;
      const std::int64_t whole = round_up_to(right - left, 32), count = run + whole <= end_ ? whole : right - left;
      kernels.expand(run, count, signed_, to + left - from);
    }
    if (until > right) fill_border(kernels, until - right, to + right - from);
  }

  void tap_by_tap(const Int8Kernels& kernels, const char* pixels, std::int64_t x, std::int64_t from, std::int64_t until,
                  char* to) const noexcept {
    for (std::int64_t i = from; i < until;) {
      const std::int64_t tap = i / shape_.depth, channel = i % shape_.depth, count = std::min(shape_.depth - channel, until - i);
      const std::int64_t at = x + tap * shape_.dilation[2];
      if (at >= 0 && at < extents_.in[2])
        kernels.expand(pixels + at * shape_.channels + channel, count, signed_, to);
      else
        fill_border(kernels, count, to);
      to += count;
      i += count;
    }
  }

  void fill_border(const Int8Kernels& kernels, std::int64_t count, char* to) const noexcept {
    for (std::int64_t i = 0; i < count; i += kBorder)
      kernels.expand(border_, std::min(kBorder, count - i), signed_, to + i);
  }

  static constexpr std::int64_t kBorder = 1024, kShortLine = 32;
  const ConvInt8Shape& shape_;
  const ConvInt8Extents& extents_;
  const char *image_, *end_;
  bool signed_, merged_, small_lines_;
  int flip_;
  char border_[kBorder];  // the zero point, which counts as 0
};

Int8Weights weights_of(const ConvInt8Shape& s) { return {.k = s.depth * s.taps(), .n = s.filters / s.groups, .groups = s.groups}; }

Verdict supports(const Problem& p) {
  const Verdict verdict = conv_int8_supports(p);
  if (!verdict) return verdict;
  const ConvInt8Shape s(p);
  return Verdict::only_if(s.depth > 1 || s.filters > s.groups || s.groups == 1, "depthwise: every product would be a single column");
}

std::vector<Config> configs(const Problem& p) { return int8_configs(*p.device, conv_int8_likely_rows(p), weights_of(ConvInt8Shape(p)).n); }
Verdict valid(const Problem& p, const Config& c) { return int8_valid(*p.device, c); }

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  return input == 1 ? Int8Packing(weights_of(ConvInt8Shape(p)), int8_kernels(c[0])).bytes() : -1;
}

// Calls f(index in the ONNX weight, index in [groups][k][n]).
template <class F>
void for_each_weight(const ConvInt8Shape& s, F&& f) {
  const Int8Weights w = weights_of(s);
  for (std::int64_t m = 0; m < s.filters; ++m) {
    for (std::int64_t c = 0; c < s.depth; ++c) {
      for (std::int64_t t = 0; t < s.taps(); ++t) {
        f((m * s.depth + c) * s.taps() + t, static_cast<std::size_t>((m / w.n * w.k + t * s.depth + c) * w.n + m % w.n));
      }
    }
  }
}

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const ConvInt8Shape s(p);
  const Tensor& weight = *constants[1];
  std::vector<std::int16_t> values(static_cast<std::size_t>(weight.size()));
  for_each_weight(
      s, [&](std::int64_t from, std::size_t to) { values[to] = static_cast<std::int16_t>(load_int(weight.dtype(), weight.raw(), from)); });
  Int8Packing(weights_of(s), int8_kernels(c[0])).pack(values, conv_int8_zeros(p, constants), packed);
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const ConvInt8Shape s(p);
  const std::vector<std::int16_t> values = Int8Packing(weights_of(s), int8_kernels(c[0])).unpack(packed);
  Tensor weight(p.in[1].dtype, ir::constants(p.in[1].dims));
  for_each_weight(s, [&](std::int64_t to, std::size_t from) { store_int(weight.dtype(), weight.mutable_raw(), to, values[from]); });
  return weight;
}

struct Kernel {
  ConvInt8Shape shape;
  Int8Product product;
  DType x_type;
  bool has_zero;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  auto kernel = std::make_shared<Kernel>();
  kernel->shape = ConvInt8Shape(p);
  kernel->x_type = p.in[0].dtype;
  kernel->has_zero = int8_operand_given(p, 2);
  kernel->product = Int8Product(p, c, weights_of(kernel->shape), kernel->x_type == DType::i8, 1);
  return kernel;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvInt8Extents extents(args.in[0], args.out[0]);
  const std::int32_t zero = kernel.has_zero ? int8_zero_point(args, 2, kernel.x_type) : 0;
  const WindowRows rows(kernel.shape, extents, args.in[0].data, kernel.product.a_signed, zero, *kernel.product.kernels);
  kernel.product.run(rows, extents.batch * extents.out_size(), zero, args, TileAxes::channels_last(args.out[0].rank));
  return Status::ok;
}

ir::Dim worker_scratch(const Problem& p, const Config& c) { return Int8End(p, int8_finish_kernels(c[0]), 1).scratch_bytes(); }
ir::Dim workspace(const Problem& p, const Config& c) { return Int8End(p, int8_finish_kernels(c[0]), 1).workspace_bytes(); }

}  // namespace

Tactic cpu_conv_int8_igemm() {
  return {.name = "conv_int8_igemm",
          .version = 2,
          .op = "ConvInteger",
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .formats = conv_int8_formats,
          .workspace = workspace,
          .worker_scratch = worker_scratch,
          .packed_bytes = packed_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .work = conv_int8_work};
}

}  // namespace tenfold::backends
