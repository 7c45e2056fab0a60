// Reading a convolution problem.
#include "backends/cpu/gemm/conv/conv_shape.h"

#include <algorithm>

#include "backends/cpu/gemm/heuristics.h"

namespace tenfold::backends::cpu {

ConvShape::ConvShape(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims;
  groups = p.attributes->integer("group", 1);
  channels = x[1].constant();
  filters = w[0].constant();
  depth = channels / groups;
  width = filters / groups;
  const std::size_t rank = w.size() - 2, lead = 3 - rank;
  const ir::Ints ones(rank, 1), none(2 * rank, 0);
  const ir::Ints strides = p.attributes->ints("strides", ones), dilations = p.attributes->ints("dilations", ones),
                 pads = p.attributes->ints("pads", none);
  for (std::size_t i = 0; i < rank; ++i) {
    kernel[lead + i] = w[2 + i].constant();
    stride[lead + i] = strides[i];
    dilation[lead + i] = dilations[i];
    begin[lead + i] = pads[i];
  }
}

ConvExtents::ConvExtents(const Bound& x, const Bound& y) noexcept {
  batch = x.dims[0];
  x_batch = x.strides[0];
  for (int i = 2; i < x.rank; ++i) {
    const auto at = static_cast<std::size_t>(i + 3 - x.rank);
    in[at] = x.dims[i];
    out[at] = y.dims[i];
    x_stride[at] = x.strides[i];
  }
}

namespace {
bool in_range(const ir::Ints& values, std::size_t count, std::int64_t min) {
  return values.size() == count && std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v >= min && v < 1 << 20; });
}
}  // namespace

Verdict conv_supports(const Problem& p) {
  for (std::size_t i = 0; i < 2; ++i)
    if (p.in[i].dtype != DType::f32) return Verdict::no("operands are not f32");
  return conv_extents_supported(p);
}

Verdict conv_extents_supported(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims, &y = p.out[0].dims;
  if (!p.in[1].constant || !ir::is_constant(w)) return Verdict::no("the weight is not a constant");
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size() || y.size() != x.size()) return Verdict::no("not one to three spatial dims");
  const std::size_t rank = x.size() - 2;
  const ir::Ints ones(rank, 1), none(2 * rank, 0);
  if (p.attributes->string("auto_pad", "NOTSET") != "NOTSET") return Verdict::no("pads depend on the run's extents");
  if (!in_range(p.attributes->ints("strides", ones), rank, 1) || !in_range(p.attributes->ints("dilations", ones), rank, 1) ||
      !in_range(p.attributes->ints("pads", none), 2 * rank, 0))
    return Verdict::no("strides, dilations or pads are out of range");
  const std::int64_t group = p.attributes->integer("group", 1);
  for (ir::Dim d : w)
    if (d.constant() < 1 || d.constant() > 1 << 20) return Verdict::no("the weight is empty or too large");
  if (!x[1].is_constant() || group < 1 || x[1].constant() != w[1].constant() * group || w[0].constant() % group != 0)
    return Verdict::no("channels do not match the weight's groups");
  return Verdict::only_if(y[0] == x[0] && y[1] == w[0], "the epilogue changes the result's extents");
}

bool conv_has_bias(const Problem& p) { return p.anchor_inputs > 2 && p.in.size() > 2 && !p.in[2].missing; }

bool unit_channels(const OperandDesc& o) {
  return o.dense ? o.layout == kChannelsLast || same_as_plain(kChannelsLast, o.dims) : o.strides[1] == ir::Dim(1);
}

bool uniform_positions(const OperandDesc& o) {
  if (o.dense || !unit_channels(o)) return unit_channels(o);
  ir::Dim step = o.strides.back();
  for (std::size_t i = o.dims.size(); i-- > 2;) {
    if (o.dims[i] != ir::Dim(1) && o.strides[i] != step) return false;
    step = step * o.dims[i];
  }
  return o.dims[0] == ir::Dim(1) || o.strides[0] == step;
}

Formats conv_formats(const Problem& p, Layout x, Layout y) {
  Formats f{std::vector<Layout>(p.in.size()), std::vector<Layout>(p.out.size(), y)};
  f.in[0] = x;
  for (std::size_t i = static_cast<std::size_t>(p.anchor_inputs); i < p.in.size(); ++i)
    if (!p.in[i].missing && p.in[i].dims.size() == p.out[0].dims.size()) f.in[i] = y;
  return f;
}

std::int64_t conv_likely_rows(const Problem& p) {
  std::int64_t rows = likely(p, p.out[0].dims[0], 1);
  for (std::size_t i = 2; i < p.out[0].dims.size(); ++i) rows = std::min<std::int64_t>(rows * likely(p, p.out[0].dims[i], 56), 1 << 24);
  return rows;
}

double conv_work(const Problem& p) {
  const ConvShape s(p);
  return 2.0 * static_cast<double>(conv_likely_rows(p)) * static_cast<double>(s.filters * s.depth * s.taps());
}

}  // namespace tenfold::backends::cpu
