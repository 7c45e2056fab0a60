// Where each weight lies, and the phases of transposed convolutions.
#include "backends/cuda/tactics/conv/conv_weights_common.h"

#include <cstring>
#include <numeric>

#include "base/check.h"
#include "base/checked.h"
#include "base/threads/spread.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

constexpr int64_t kMaxPhases = 1024, kMaxTaps = 1 << 15, kFarthest = 1 << 27;  // of an axis's places

int64_t modulo(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

// One axis of a transposed convolution: tap t of position i adds to place i * stride + t * dilation - pad.
struct Axis {
  int64_t extent = 1, taps = 1, stride = 1, dilation = 1, pad = 0, result = 1;
  int64_t step() const { return stride / std::gcd(stride, dilation); }  // from one tap of a phase to the next
  int64_t phase(int64_t tap) const { return modulo(tap * dilation - pad, stride); }
  // The phase's first tap, or how many there are if it has none.
  int64_t first(int64_t of) const {
    for (int64_t t = 0; t < std::min(taps, step()); ++t)
      if (phase(t) == of) return t;
    return taps;
  }
  int64_t count(int64_t of) const { return ceil_div(taps - first(of), step()); }
  // Taps run backwards, so that the window moves forwards as that of a convolution does.
  int64_t index(int64_t tap) const { return (taps - 1 - tap) / step(); }
  GemmProblem::Phase window(int64_t of) const {
    const int64_t number = count(of);
    if (number == 0) return {0, 0};
    const int64_t last = first(of) + (number - 1) * step();
    return {number, (last * dilation - pad - of) / stride};  // a whole number: both lie in this phase
  }
};

std::array<Axis, 3> axes_of(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims, &y = p.out[0].dims;
  const std::size_t rank = w.size() - 2, lead = 3 - rank;
  const ir::Ints ones(rank, 1), none(2 * rank, 0), strides = p.attributes->ints("strides", ones),
                                                   dilations = p.attributes->ints("dilations", ones),
                                                   pads = p.attributes->ints("pads", none);
  std::array<Axis, 3> axes;
  for (std::size_t i = 0; i < rank; ++i)
    axes[lead + i] = {x[2 + i].constant(), w[2 + i].constant(), strides[i], dilations[i], pads[i], y[2 + i].constant()};
  return axes;
}

template <class Element>
void repack_as(const WeightOrder& o, const void* from, void* to, bool back) {
  const auto* source = static_cast<const Element*>(from);
  auto* target = static_cast<Element*>(to);
  const int64_t taps = std::ssize(o.taps), own_groups = o.groups / o.together, own_filters = o.filters * o.together,
                bytes = o.elements() * static_cast<int64_t>(sizeof(Element));
  spread_stretches(o.groups * o.filters, 1, bytes, [&](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f)
      for (int64_t c = 0; c < o.channels; ++c)
        for (int64_t t = 0; t < taps; ++t) {
          const int64_t group = f / o.filters, filter = f % o.filters, member = group % o.together;
          const int64_t plain = (o.channels_first ? (group * o.channels + c) * o.filters + filter : f * o.channels + c) * taps + t;
          const WeightOrder::Tap& tap = o.taps[static_cast<std::size_t>(t)];
          const int64_t row = (tap.phase * own_groups + group / o.together) * own_filters + member * o.filters + filter;
          const int64_t own = row * o.k + (tap.index * o.together + member) * o.channels + c;
          target[back ? plain : own] = source[back ? own : plain];
        }
  });
}

void repack(const Problem& p, const WeightOrder& o, const void* from, void* to, bool back) {
  const int width = bits(p.in[1].dtype);
  if (width == 8) return repack_as<std::uint8_t>(o, from, to, back);
  if (width == 16) return repack_as<std::uint16_t>(o, from, to, back);
  check(width == 32, "weights of ", width, " bits are to be packed");
  repack_as<std::uint32_t>(o, from, to, back);
}

}  // namespace

int64_t groups_together(int64_t groups, int64_t channels, int64_t filters, DType type) {
  constexpr int64_t kWide = 32, kWidest = 256;
  const int64_t piece = 128 / bits(type);
  int64_t best = 1;
  for (int64_t n = 1; n <= groups && n * std::max(channels, filters) <= kWidest; ++n) {
    if (groups % n != 0 || n * channels % piece != 0 || n * filters % 8 != 0) continue;
    best = n;
    if (n * std::max(channels, filters) >= kWide) break;
  }
  return best;
}

Verdict read_phases(const Problem& p, GemmProblem& g) {
  const std::array<Axis, 3> axes = axes_of(p);
  int64_t phases = 1, taps = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const Axis& a = axes[d];
    if (a.stride > kMaxPhases || (phases *= a.stride) > kMaxPhases) return Verdict::no("more phases than kernels are made for");
    if (a.taps > kMaxTaps || (taps *= a.taps) > kMaxTaps) return Verdict::no("a window has too many taps");
    for (const int64_t far : {a.taps * a.dilation, a.pad, -a.pad, a.result, a.extent})
      if (far > kFarthest) return Verdict::no("windows reach too far");
  }
  for (std::size_t d = 0; d < 3; ++d) {
    const Axis& a = axes[d];
    g.kernel[d] = 1;
    for (int64_t of = 0; of < a.stride; ++of) {
      g.phases[d].push_back(a.window(of));
      g.kernel[d] = std::max(g.kernel[d], g.phases[d].back().taps);
    }
    g.in_extent[d] = a.extent, g.result_extent[d] = a.result, g.out_extent[d] = ceil_div(a.result, a.stride);
    g.dilation[d] = a.dilation / std::gcd(a.stride, a.dilation);
  }
  g.is_conv = true;
  return Verdict::only_if(phases * g.taps() <= 16 * taps, "most phases have no taps");
}

WeightOrder weight_order(const Problem& p, const GemmProblem& gemm) {
  const ir::Dims& w = p.in[1].dims;
  WeightOrder o;
  o.channels_first = p.op->name == "ConvTranspose";
  o.groups = p.attributes->integer("group", 1), o.together = o.groups / gemm.groups, o.k = gemm.k;
  o.filters = o.channels_first ? w[1].constant() : w[0].constant() / o.groups;
  o.channels = o.channels_first ? w[0].constant() / o.groups : w[1].constant();
  const int64_t taps = ir::product(std::span(w).subspan(2)).constant();
  o.phases = gemm.spreads ? taps : gemm.phase_count();
  if (!gemm.has_phases()) {
    for (int64_t t = 0; t < taps; ++t) o.taps.push_back(gemm.spreads ? WeightOrder::Tap{t, 0} : WeightOrder::Tap{0, t});
    return o;
  }
  const std::array<Axis, 3> axes = axes_of(p);
  for (int64_t t = 0; t < taps; ++t) {
    const std::array<int64_t, 3> tap{t / (axes[1].taps * axes[2].taps), t / axes[2].taps % axes[1].taps, t % axes[2].taps};
    WeightOrder::Tap place{0, 0};
    for (std::size_t d = 0; d < 3; ++d) {
      const int64_t phase = axes[d].phase(tap[d]);
      place.phase = place.phase * axes[d].stride + phase;
      place.index = place.index * axes[d].count(phase) + axes[d].index(tap[d]);
    }
    o.taps.push_back(place);
  }
  return o;
}

void pack_weights(const Problem& p, const WeightOrder& order, const void* from, void* to) {
  if (order.elements() != ir::product(p.in[1].dims).constant())
    std::memset(to, 0, static_cast<std::size_t>(order.elements() * bits(p.in[1].dtype) / 8));
  repack(p, order, from, to, false);
}

Tensor unpack_weights(const Problem& p, const WeightOrder& order, const void* packed) {
  Tensor w(p.in[1].dtype, ir::constants(p.in[1].dims));
  repack(p, order, packed, w.mutable_raw(), true);
  return w;
}

}  // namespace tenfold::backends::cuda
