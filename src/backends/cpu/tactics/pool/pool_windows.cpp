// pool_windows: MaxPool and AveragePool, window by window, in both layouts.
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/kernels/pool/pool.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

using std::int64_t;

constexpr int64_t kMaxTaps = 512, kMaxJoined = 1024;

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  const DType t = p.in[0].dtype;
  const bool is_max = p.op->name == "MaxPool";
  if (t != DType::f32 && t != DType::bf16 && !(is_max && (t == DType::u8 || t == DType::i8)))
    return Verdict::no(cat("elements of type ", name(t)));
  if (t == DType::bf16 && !is_max && p.in[0].layout != kChannelsLast)
    return Verdict::no("sums of bf16 in a layout other than channels-last");
  if (p.out.size() > 1 && !p.out[1].missing) return Verdict::no("the indices are asked for");
  const auto rank = p.in[0].dims.size();
  if (rank < 3 || rank > 5) return Verdict::no("not one to three spatial dims");
  for (const OperandDesc* operand : {&p.in[0], &p.out[0]})
    if (!operand->dense && (operand->layout != kChannelsLast || !unit_channels(*operand)))
      return Verdict::no("an operand is strided, and its channels are not innermost");
  if (p.in[0].layout != p.out[0].layout) return Verdict::no("input and output differ in layout");
  if (p.attributes->string("auto_pad", "NOTSET") != "NOTSET") return Verdict::no("pads depend on the run's extents");
  const std::size_t n = rank - 2;
  if (!p.attributes->has("kernel_shape") || p.attributes->ints("kernel_shape").size() != n)
    return Verdict::no("the window has another rank");
  int64_t taps = 1;
  for (int64_t k : p.attributes->ints("kernel_shape")) taps = k < 1 || k > kMaxTaps ? kMaxTaps + 1 : taps * k;
  if (taps > kMaxTaps) return Verdict::no(cat("a window of more than ", kMaxTaps, " elements"));
  for (const char* which : {"strides", "dilations"})
    for (int64_t s : p.attributes->ints(which, ir::Ints(n, 1)))
      if (s < 1 || s > 1 << 20 || p.attributes->ints(which, ir::Ints(n, 1)).size() != n)
        return Verdict::no("strides or dilations are out of range");
  const ir::Ints pads = p.attributes->ints("pads", ir::Ints(2 * n, 0));
  if (pads.size() != 2 * n) return Verdict::no("pads of another rank");
  for (int64_t s : pads)
    if (s < 0 || s > 1 << 20) return Verdict::no("pads are out of range");
  return Verdict::ok();
}

std::vector<Formats> formats(const Problem& p) {
  const auto all = [&](Layout layout) { return Formats{{layout}, std::vector<Layout>(p.out.size(), layout)}; };
  if (p.in[0].dtype == DType::bf16 && p.op->name != "MaxPool") return {all(kChannelsLast)};
  return {all(kPlain), all(kChannelsLast)};
}

struct Kernel {
  const PoolKernels* kernels;
  DType dtype;
  bool is_max, count_pads, channels_last;
  Three kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, begin{0, 0, 0}, end{0, 0, 0};
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  auto k = std::make_shared<Kernel>();
  k->kernels = &pick(p, tenfold_pool_avx2, tenfold_pool_avx512);
  k->dtype = p.in[0].dtype;
  k->is_max = p.op->name == "MaxPool";
  k->count_pads = p.attributes->integer("count_include_pad", 0) != 0;
  k->channels_last = p.in[0].layout == kChannelsLast;
  const std::size_t n = p.in[0].dims.size() - 2, lead = 3 - n;
  for (std::size_t i = 0; i < n; ++i) {
    k->kernel[lead + i] = p.attributes->ints("kernel_shape")[i];
    k->stride[lead + i] = p.attributes->ints("strides", ir::Ints(n, 1))[i];
    k->dilation[lead + i] = p.attributes->ints("dilations", ir::Ints(n, 1))[i];
    const ir::Ints pads = p.attributes->ints("pads", ir::Ints(2 * n, 0));
    k->begin[lead + i] = pads[i];
    k->end[lead + i] = pads[n + i];
  }
  return k;
}

// The taps of one dim that fall inside the input for output position o: [first, last) and the input index of tap 0.
struct Taps {
  int64_t first, last, at, padded;
};
Taps taps(const Kernel& k, const ConvExtents& e, std::size_t d, int64_t o) {
  const int64_t at = o * k.stride[d] - k.begin[d], step = k.dilation[d], all = k.kernel[d];
  if (at >= 0 && at + (all - 1) * step < e.in[d]) return {0, all, at, all};
  const auto steps = [step](int64_t n) { return step == 1 ? n : ceil_div(n, step); };   // a division costs as much as a row of a window
  const int64_t first = at < 0 ? steps(-at) : 0;
  const int64_t last = std::clamp<int64_t>(at >= e.in[d] ? 0 : steps(e.in[d] - at), 0, all);
  const int64_t padded = std::clamp<int64_t>(steps(e.in[d] + k.end[d] - at), 0, all);  // inside the padded input
  return {std::min(first, all), last, at, padded};
}
float scale_of(const Kernel& k, const Taps& z, const Taps& y, const Taps& x, int64_t count) {
  const int64_t divisor = k.count_pads ? z.padded * y.padded * x.padded : count;
  return 1.f / static_cast<float>(std::max<int64_t>(divisor, 1));
}
// Of the sum at output position ox, with `window_rows` rows of the input under its window.
float scale_at(const Kernel& k, const ConvExtents& e, const Taps& z, const Taps& y, int64_t window_rows, int64_t ox) {
  const Taps w = taps(k, e, 2, ox);
  return scale_of(k, z, y, w, window_rows * std::max<int64_t>(0, w.last - w.first));
}

// The outputs of a row whose windows lie inside.
struct Inner {
  int64_t left, right;
  Inner(const Kernel& k, const ConvExtents& e) {
    const int64_t reach = (k.kernel[2] - 1) * k.dilation[2] + 1;
    left = std::min(e.out[2], ceil_div(k.begin[2], k.stride[2]));
    right = std::clamp(floor_div(e.in[2] + k.begin[2] - reach, k.stride[2]) + 1, left, e.out[2]);
  }
};

template <class T>
T lowest() {
  if constexpr (std::is_same_v<T, std::uint16_t>) return 0xff80;  // bf16
  return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

template <class T, class Position>
void channels_last(const Kernel& k, const RunArgs& args, const ConvExtents& e, Position position) {
  const int64_t channels = args.in[0].dims[1], rows = e.batch * e.out[0] * e.out[1];
  const Three& step = e.x_stride;
  const Three to = ConvExtents(args.out[0], args.out[0]).x_stride;
  // Small parts: what the step ahead has shared out is read where it was written.
  for_row_parts(*args.parallel, rows, rows_per_part(e.out[2] * channels * k.kernel[0] * k.kernel[1] * k.kernel[2] * 2),
                [&](int64_t first, int64_t last, int) {
                  // Windows of a line that lie inside have the same taps, some elements further on.
                  const int64_t hop = k.stride[2] * step[2];
                  const auto [left, right] = Inner(k, e);
                  int64_t offsets[kMaxTaps];
                  for (int64_t r = first; r < last; ++r) {
                    const int64_t n = r / (e.out[0] * e.out[1]);
                    const Taps z = taps(k, e, 0, r / e.out[1] % e.out[0]), y = taps(k, e, 1, r % e.out[1]);
                    const T* x = args.in[0].as<const T>() + n * e.x_batch;
                    T* out = args.out[0].as<T>() + n * args.out[0].strides[0] + r / e.out[1] % e.out[0] * to[0] + r % e.out[1] * to[1];
                    int64_t count = 0;
                    float scale = 1;
                    for (int64_t ox = 0; ox < e.out[2]; ++ox, out += to[2]) {
                      if (ox > left && ox < right && count > 0) {
                        position(x + (ox - left) * hop, offsets, count, channels, out, scale);
                        continue;
                      }
                      const Taps w = taps(k, e, 2, ox);
                      count = 0;
                      for (int64_t kz = z.first; kz < z.last; ++kz)
                        for (int64_t ky = y.first; ky < y.last; ++ky)
                          for (int64_t kx = w.first; kx < w.last; ++kx)
                            offsets[count++] = (z.at + kz * k.dilation[0]) * step[0] + (y.at + ky * k.dilation[1]) * step[1] +
                                               (w.at + kx * k.dilation[2]) * step[2];
                      if (!k.is_max) scale = scale_of(k, z, y, w, count);
                      if (count == 0)
                        std::fill(out, out + channels, k.is_max ? lowest<T>() : T(0));
                      else
                        position(x, offsets, count, channels, out, scale);
                    }
                  }
                });
}

// A row's sums, over what each window holds. `window_rows`: rows of the input under the windows.
void scale_sums(const Kernel& k, const ConvExtents& e, const Taps& z, const Taps& y, int64_t window_rows, const Inner& inner, float* out) {
  const auto scaled = [&](int64_t ox) { return scale_at(k, e, z, y, window_rows, ox); };
  const float inside = inner.left < inner.right ? scaled(inner.left) : 0.f;   // they share one divisor
  int64_t ox = 0;
  for (; ox < inner.left; ++ox) out[ox] *= scaled(ox);
  constexpr int64_t kBlock = 16;   // a count that the compiler knows, so that it makes vectors of it
  for (; ox + kBlock <= inner.right; ox += kBlock)
    for (int64_t i = 0; i < kBlock; ++i) out[ox + i] *= inside;
  for (; ox < inner.right; ++ox) out[ox] *= inside;
  for (; ox < e.out[2]; ++ox) out[ox] *= scaled(ox);
}

// A tap along a row: the input's place beside the output's, and the outputs whose tap lies inside.
struct RowTap {
  int64_t shift, from, to;
};

// f(row) for each row of the input x under the windows of a row of outputs.
template <class T, class F>
void for_window_rows(const Kernel& k, const ConvExtents& e, const Taps& z, const Taps& y, const T* x, F&& f) {
  for (int64_t kz = z.first; kz < z.last; ++kz)
    for (int64_t ky = y.first; ky < y.last; ++ky)
      f(x + ((z.at + kz * k.dilation[0]) * e.in[1] + y.at + ky * k.dilation[1]) * e.in[2]);
}

// Rows under the windows joined to one, which has to have room for `count` elements.
template <class T, class Row>
void join_rows(const Kernel& k, const ConvExtents& e, const Taps& z, const Taps& y, const T* x, T* joined, int64_t count, Row row) {
  bool begun = false;
  for_window_rows(k, e, z, y, x, [&](const T* from) {
    if (std::exchange(begun, true)) row(joined, from, 1, count);
    else std::copy_n(from, count, joined);
  });
}

// Rows of outputs of which the rows under the windows are joined first, beside what pads them, and then the windows: some rows of one
// before the other, since a vector that lies across two that were just written waits for both.
class PaddedRows {
 public:
  PaddedRows(const Kernel& k, const ConvExtents& e, const Inner& inner)
      : k_(k), e_(e), inner_(inner), width_((e.out[2] - 1) * k.stride[2] + (k.kernel[2] - 1) * k.dilation[2] + 1) {
    usable = k.dtype == DType::f32 && k.stride[2] <= 2 && width_ <= kMaxJoined;
    if (!usable) return;
    begin_ = std::min(k.begin[2], width_), middle_ = std::min(e.in[2], width_ - begin_);
    most_ = std::min(kRows, kFloats / width_);
    const float outside = k.is_max ? lowest<float>() : 0.f;
    for (float* row = padded_; row < padded_ + most_ * width_; row += width_) {
      std::fill(row, row + begin_, outside);
      std::fill(row + begin_ + middle_, row + width_, outside);
    }
  }
  bool usable;

  // The row `out` of outputs, whose input is x.
  void add(const Taps& z, const Taps& y, const float* x, float* out) {
    int64_t rows[kMaxTaps], count = 0;
    for_window_rows(k_, e_, z, y, x, [&](const float* row) { rows[count++] = row - x; });
    if (count == 0) {
      std::fill(out, out + e_.out[2], k_.is_max ? lowest<float>() : 0.f);
      return;
    }
    if (!k_.is_max) set_scales(z, y, count);
    (k_.is_max ? k_.kernels->max_rows_f32 : k_.kernels->sum_rows_f32)(padded_ + rows_ * width_ + begin_, x, rows, count, middle_);
    out_[rows_++] = out;
    if (rows_ == most_) finish();
  }
  // Has to follow the last row.
  void finish() {
    for (int64_t r = 0; r < rows_; ++r)
      (k_.is_max ? k_.kernels->max_windows_f32 : k_.kernels->sum_windows_f32)(out_[r], padded_ + r * width_, k_.kernel[2], k_.dilation[2],
                                                                              k_.stride[2], e_.out[2], scales_);
    rows_ = 0;
  }

 private:
  // Most rows have as many rows under their windows as the one before.
  void set_scales(const Taps& z, const Taps& y, int64_t count) {
    const int64_t rows = k_.count_pads ? z.padded * y.padded : count;
    if (rows == scaled_) return;
    finish();
    scaled_ = rows;
    const auto scale = [&](int64_t ox) { return scale_at(k_, e_, z, y, count, ox); };
    for (int64_t ox = 0; ox < inner_.left; ++ox) scales_[ox] = scale(ox);
    if (inner_.left < inner_.right) std::fill(scales_ + inner_.left, scales_ + inner_.right, scale(inner_.left));   // they are alike
    for (int64_t ox = inner_.right; ox < e_.out[2]; ++ox) scales_[ox] = scale(ox);
  }

  static constexpr int64_t kRows = 8, kFloats = 4 * kMaxJoined;
  const Kernel& k_;
  const ConvExtents& e_;
  const Inner& inner_;
  int64_t width_, begin_ = 0, middle_ = 0, most_ = 0, rows_ = 0;   // of a padded row: all, in front, between; rows that fit, that wait
  int64_t scaled_ = -1;                                            // rows under the windows for which the scales are
  float* out_[kRows];
  float padded_[kFloats], scales_[kMaxJoined];
};

// The same for any length and type, tap by tap.
template <class T, class Row>
void plain_row(const Kernel& k, const ConvExtents& e, const Taps& z, const Taps& y, const RowTap* along, const T* x, T* out, Row row) {
  const int64_t rows = std::max<int64_t>(0, z.last - z.first) * std::max<int64_t>(0, y.last - y.first), stride = k.stride[2];
  T joined[kMaxJoined];
  const bool joins = e.in[2] <= kMaxJoined && rows * e.in[2] + k.kernel[2] * e.out[2] < rows * k.kernel[2] * e.out[2];   // less work
  if (joins) join_rows(k, e, z, y, x, joined, e.in[2], row);
  std::fill(out, out + e.out[2], k.is_max ? lowest<T>() : T(0));
  for (int64_t kx = 0; kx < k.kernel[2]; ++kx) {
    const RowTap& tap = along[kx];
    if (tap.from >= tap.to) continue;
    const auto join = [&](const T* from) { row(out + tap.from, from + tap.from * stride + tap.shift, stride, tap.to - tap.from); };
    if (joins) join(joined);
    else for_window_rows(k, e, z, y, x, join);
  }
}

template <class T, class Row>
void plain(const Kernel& k, const RunArgs& args, const ConvExtents& e, Row row) {
  const int64_t planes = e.batch * args.in[0].dims[1], rows = planes * e.out[0] * e.out[1], in_plane = e.in[0] * e.in[1] * e.in[2];
  RowTap along[kMaxTaps];
  for (int64_t kx = 0; kx < k.kernel[2]; ++kx) {
    const int64_t shift = kx * k.dilation[2] - k.begin[2];
    along[kx] = {shift, shift < 0 ? ceil_div(-shift, k.stride[2]) : 0,
                 std::min(e.out[2], shift >= e.in[2] ? 0 : ceil_div(e.in[2] - shift, k.stride[2]))};
  }
  const Inner inner(k, e);
  const int64_t taps_of_row = e.out[2] * k.kernel[0] * k.kernel[1] * k.kernel[2];
  for_row_parts(*args.parallel, rows, rows_per_part(taps_of_row), [&](int64_t first, int64_t last, int) {
    PaddedRows padded(k, e, inner);
    int64_t plane = first / (e.out[0] * e.out[1]), oz = first / e.out[1] % e.out[0], oy = first % e.out[1];
    Taps z = taps(k, e, 0, oz);
    for (int64_t r = first; r < last; ++r) {
      const Taps y = taps(k, e, 1, oy);
      const T* x = args.in[0].as<const T>() + plane * in_plane;
      T* out = args.out[0].as<T>() + r * e.out[2];
      if constexpr (std::is_same_v<T, float>) {
        if (padded.usable) {
          padded.add(z, y, x, out);
        } else {
          plain_row(k, e, z, y, along, x, out, row);
          const int64_t window_rows = std::max<int64_t>(0, z.last - z.first) * std::max<int64_t>(0, y.last - y.first);
          if (!k.is_max) scale_sums(k, e, z, y, window_rows, inner, out);
        }
      } else {
        plain_row(k, e, z, y, along, x, out, row);
      }
      if (++oy < e.out[1]) continue;
      oy = 0;
      if (++oz == e.out[0]) oz = 0, ++plane;
      z = taps(k, e, 0, oz);
    }
    if (padded.usable) padded.finish();
  });
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const PoolKernels& f = *k.kernels;
  const ConvExtents e(args.in[0], args.out[0]);
  if (e.rows() * args.in[0].dims[1] == 0) return Status::ok;
  if (k.channels_last) {
    if (k.dtype == DType::bf16)
      channels_last<std::uint16_t>(k, args, e, k.is_max ? f.max_position_bf16 : f.sum_position_bf16);
    else if (k.dtype == DType::u8)
      channels_last<std::uint8_t>(k, args, e, f.max_position_u8);
    else if (k.dtype == DType::i8)
      channels_last<std::int8_t>(k, args, e, f.max_position_i8);
    else
      channels_last<float>(k, args, e, k.is_max ? f.max_position_f32 : f.sum_position_f32);
  } else {
    if (k.dtype == DType::bf16)
      plain<std::uint16_t>(k, args, e, f.max_row_bf16);
    else if (k.dtype == DType::u8)
      plain<std::uint8_t>(k, args, e, f.max_row_u8);
    else if (k.dtype == DType::i8)
      plain<std::int8_t>(k, args, e, f.max_row_i8);
    else
      plain<float>(k, args, e, k.is_max ? f.max_row_f32 : f.sum_row_f32);
  }
  return Status::ok;
}

}  // namespace

Tactic cpu_pool_windows() {
  return {.name = "pool_windows",
          .ops = {{"AveragePool", "average_pool_windows"}, {"MaxPool", "max_pool_windows"}},
          .supports = supports,
          .configs = one_config,
          .formats = formats,
          .open = open,
          .run = run,
          .cases = {"MaxPool f32[2,20,33,29] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
                    "MaxPool u8[1,40,17,18] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
                    "MaxPool f32[1,5,12,13,14] kernel_shape=[2,2,2] strides=[2,2,2]",
                    "AveragePool f32[2,20,33,29] kernel_shape=[3,2] strides=[1,3] pads=[1,0,1,1] "
                    "count_include_pad=1",
                    "AveragePool f32[1,3,5,40] kernel_shape=[3,5] strides=[1,2] pads=[1,2,1,2]",
                    "AveragePool f32[1,3,5,4] kernel_shape=[3,5] pads=[1,4,1,4]",
                    "AveragePool f32[2,3,9,41] kernel_shape=[3,3] pads=[1,1,1,1]",
                    "MaxPool f32[1,3,9,20] kernel_shape=[3,3] pads=[1,2,1,0] dilations=[2,2]",
                    "AveragePool f32[1,2,4,9,17] kernel_shape=[2,2,3] pads=[1,0,1,0,1,1] count_include_pad=1"}};
}

}  // namespace tenfold::backends
