// Which taps make which phase of a transposed convolution, and how their weights are packed.
#include "backends/cpu/gemm/conv/conv_phases.h"

#include <algorithm>
#include <numeric>

#include "backends/device_traits.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

bool in_range(const ir::Ints& values, std::size_t count, std::int64_t least) {
  return values.size() == count && std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v >= least && v < 1 << 20; });
}

ir::Ints ints(const Problem& p, const char* name, std::size_t count, std::int64_t otherwise) {
  ir::Ints values = p.attributes->ints(name, {});
  return values.empty() ? ir::Ints(count, otherwise) : values;
}

ConvShape transposed_shape(const Problem& p) {
  const ir::Dims& w = p.in[1].dims;
  ConvShape s;
  s.groups = p.attributes->integer("group", 1);
  s.channels = w[0].constant();
  s.width = w[1].constant();
  s.depth = s.channels / s.groups;
  s.filters = s.width * s.groups;
  const std::size_t rank = w.size() - 2, lead = 3 - rank;
  const ir::Ints strides = ints(p, "strides", rank, 1), dilations = ints(p, "dilations", rank, 1), pads = ints(p, "pads", 2 * rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    s.kernel[lead + i] = w[2 + i].constant();
    s.stride[lead + i] = strides[i];
    s.dilation[lead + i] = dilations[i];
    s.begin[lead + i] = pads[i];
  }
  return s;
}

}  // namespace

Verdict conv_phases_supported(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims, &y = p.out[0].dims;
  if (!p.in[1].constant || !ir::is_constant(w)) return Verdict::no("the weight is not a constant");
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size() || y.size() != x.size()) return Verdict::no("not one to three spatial dims");
  for (ir::Dim d : w)
    if (d.constant() < 1 || d.constant() > 1 << 20) return Verdict::no("the weight is empty or too large");
  const std::size_t rank = x.size() - 2;
  const std::int64_t group = p.attributes->integer("group", 1);
  if (group < 1 || w[0].constant() % group != 0 || x[1] != w[0]) return Verdict::no("channels do not match the weight's groups");
  if (p.attributes->string("auto_pad", "NOTSET") != "NOTSET" || p.attributes->has("output_shape"))
    return Verdict::no("pads depend on the run's extents");
  const ir::Ints strides = ints(p, "strides", rank, 1), dilations = ints(p, "dilations", rank, 1), pads = ints(p, "pads", 2 * rank, 0),
                 more = ints(p, "output_padding", rank, 0);
  if (!in_range(strides, rank, 1) || !in_range(dilations, rank, 1) || !in_range(pads, 2 * rank, 0) || !in_range(more, rank, 0))
    return Verdict::no("strides, dilations, pads or output_padding are out of range");
  if (y[0] != x[0] || y[1] != w[1] * ir::Dim(group)) return Verdict::no("the epilogue changes the result's extents");
  std::int64_t taps = 1, phases = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t reach = (w[2 + i].constant() - 1) * dilations[i] + 1,
                       fixed = reach - strides[i] + more[i] - pads[i] - pads[rank + i];
    if (y[2 + i] != x[2 + i] * ir::Dim(strides[i]) + ir::Dim(fixed)) return Verdict::no("the epilogue changes the result's extents");
    if (strides[i] > 1 << 10 || (phases *= strides[i]) > 1 << 10) return Verdict::no("the strides make too many phases");
    if (w[2 + i].constant() > kMaxTaps || (taps *= w[2 + i].constant()) > kMaxTaps) return Verdict::no("the kernel has too many taps");
  }
  return Verdict::ok();
}

ConvPhases::ConvPhases(const Problem& p, std::int64_t merged) : transposed_(transposed_shape(p)) {
  Three count = transposed_.stride;  // of phases that are convolutions of their own
  for (std::size_t d = 0; d < 3; ++d)
    if (merged >> d & 1) std::swap(columns_[d], count[d]);
  for (std::int64_t i = 0; i < count[0] * count[1] * count[2]; ++i) {
    ConvPhase phase;
    phase.first = {i / count[2] / count[1], i / count[2] % count[1], i % count[2]};
    phase.shape.channels = transposed_.channels, phase.shape.depth = transposed_.depth, phase.shape.groups = transposed_.groups;
    phase.shape.filters = transposed_.filters, phase.shape.width = transposed_.width;
    for (std::size_t d = 0; d < 3; ++d) phase.empty |= !set_dim(d, phase.first[d], columns_[d], phase.shape);
    phases_.push_back(phase);
  }
}

// Output o of phase r is at position q with o = r + stride * q; tap k reads input q + (r + begin - k * dilation) / stride, where that is
// whole.
bool ConvPhases::set_dim(std::size_t d, std::int64_t phase, std::int64_t count, ConvShape& shape) const {
  const std::int64_t stride = transposed_.stride[d], begin = transposed_.begin[d];
  std::vector<std::int64_t> offsets;
  for (std::int64_t r = phase; r < phase + count; ++r)
    for (std::int64_t k = 0; k < transposed_.kernel[d]; ++k)
      if (const std::int64_t at = r + begin - k * transposed_.dilation[d]; floor_mod(at, stride) == 0)
        offsets.push_back(floor_div(at, stride));
  if (offsets.empty()) return false;
  const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
  std::int64_t step = 0;
  for (const std::int64_t offset : offsets) step = std::gcd(step, offset - *low);
  shape.dilation[d] = std::max<std::int64_t>(step, 1);
  shape.kernel[d] = (*high - *low) / shape.dilation[d] + 1;
  shape.begin[d] = -*low;
  return true;
}

std::int64_t ConvPhases::tap(std::size_t d, const ConvPhase& of, std::int64_t at, std::int64_t phase) const {
  const std::int64_t r = columns_[d] > 1 ? phase : of.first[d];
  const std::int64_t distance = r + transposed_.begin[d] - (at * of.shape.dilation[d] - of.shape.begin[d]) * transposed_.stride[d];
  const std::int64_t k = floor_div(distance, transposed_.dilation[d]);
  return k >= 0 && k < transposed_.kernel[d] && k * transposed_.dilation[d] == distance ? k : -1;
}

std::int64_t ConvPhases::max_taps() const {
  std::int64_t most = 1;
  for (const ConvPhase& phase : phases_) most = std::max(most, phase.shape.taps());
  return most;
}

double ConvPhases::cost(std::int64_t lanes) const {
  std::int64_t taps = 0;
  for (const ConvPhase& phase : phases_) taps += phase.empty ? 0 : phase.shape.taps();
  return static_cast<double>(taps) * static_cast<double>(round_up(width(), lanes)) * static_cast<double>(transposed_.depth);
}

Three ConvPhases::grid(const Three& out) const {
  Three grid;
  for (std::size_t d = 0; d < 3; ++d) grid[d] = ceil_div(out[d], transposed_.stride[d]);
  return grid;
}

GemmF32Weights ConvPhases::weights(const ConvPhase& phase, int panel, std::int64_t k_block) const {
  return {.taps = phase.empty ? 0 : phase.shape.taps(), .k = transposed_.depth, .n = width(), .k_block = k_block, .panel = panel};
}

std::int64_t ConvPhases::packed_floats(int panel, std::int64_t k_block) const {
  std::int64_t floats = 0;
  for (const ConvPhase& phase : phases_) floats += weights(phase, panel, k_block).floats() * transposed_.groups;
  return floats;
}

void ConvPhases::for_each_weight(int panel, std::int64_t k_block, const std::function<void(std::int64_t, std::int64_t)>& f) const {
  const ConvShape& s = transposed_;
  std::int64_t base = 0;
  for (const ConvPhase& phase : phases_) {
    const GemmF32Weights w = weights(phase, panel, k_block);
    const Three& kernel = phase.shape.kernel;
    for (std::int64_t group = 0; group < s.groups; ++group, base += w.floats()) {
      for (std::int64_t t = 0; t < w.taps; ++t) {
        for (std::int64_t places = width() / s.width, place = 0; place < places; ++place) {
          const std::int64_t z = tap(0, phase, t / kernel[2] / kernel[1], place / columns_[2] / columns_[1]);
          const std::int64_t y = tap(1, phase, t / kernel[2] % kernel[1], place / columns_[2] % columns_[1]);
          const std::int64_t x = tap(2, phase, t % kernel[2], place % columns_[2]);
          if (z < 0 || y < 0 || x < 0) continue;
          const std::int64_t from = (z * s.kernel[1] + y) * s.kernel[2] + x;
          for (std::int64_t k = 0; k < s.depth; ++k)
            for (std::int64_t n = 0; n < s.width; ++n)
              f(base + w.slot(t, k, place * s.width + n), ((group * s.depth + k) * s.width + n) * s.taps() + from);
        }
      }
    }
  }
}

}  // namespace tenfold::backends::cpu
