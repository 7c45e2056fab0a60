// Reading a 1x1 convolution with the depthwise one behind it.
#include "backends/cpu/tactics/conv/expand_depthwise_common.h"

#include "backends/cpu/gemm/conv/window_rows.h"
#include "backends/cpu/gemm/heuristics.h"

namespace tenfold::backends::cpu {
namespace {

bool in_range(const ir::Ints& values, std::size_t count, std::int64_t min) {
  return values.size() == count && std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v >= min && v < 1 << 20; });
}

}  // namespace

ExpandShape::ExpandShape(const Problem& p)
    : channels(p.in[1].dims[1].constant()),
      width(p.in[1].dims[0].constant()),
      high(p.in[3].dims[2].constant()),
      wide(p.in[3].dims[3].constant()) {
  const ir::Ints strides = p.attributes->ints("strides", {1, 1}), pads = p.attributes->ints("pads", {0, 0, 0, 0});
  stride_y = strides[0], stride_x = strides[1], top = pads[0], left = pads[1], right = pads[3];
}

Verdict expand_depthwise_supports(const Problem& p, DType type) {
  const ir::Dims &x = p.in[0].dims, &y = p.out[0].dims;
  for (std::size_t i = 0; i < 4; ++i)
    if (p.in[i].dtype != type) return Verdict::no(cat("operands are not ", name(type)));
  for (std::size_t i = 1; i < 4; ++i)
    if (!p.in[i].constant || !ir::is_constant(p.in[i].dims)) return Verdict::no("a weight is not a constant");
  if (p.attributes->string("auto_pad", "NOTSET") != "NOTSET") return Verdict::no("pads depend on the run's extents");
  if (!in_range(p.attributes->ints("strides", {1, 1}), 2, 1) || !in_range(p.attributes->ints("pads", {0, 0, 0, 0}), 4, 0) ||
      p.attributes->ints("dilations", {1, 1}) != ir::Ints{1, 1})
    return Verdict::no("strides, dilations or pads are out of range");
  for (const std::size_t i : {std::size_t{1}, std::size_t{3}})
    for (ir::Dim d : p.in[i].dims)
      if (d.constant() < 1 || d.constant() > 1 << 16) return Verdict::no("a weight is empty or too large");
  const ExpandShape s(p);
  if ((s.wide != 3 && s.wide != 5) || s.high > kMaxTaps / s.wide || s.stride_x > 2 || s.left >= s.wide || s.right >= s.wide)
    return Verdict::no("there is no kernel for lines of this window");
  if (!(y[0] == x[0] && y[1] == p.in[1].dims[0] && y.size() == 4)) return Verdict::no("the epilogue changes the result's extents");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  return Verdict::only_if(uniform_positions(p.out[0]), "the result is not channels-last");
}
double expand_depthwise_work(const Problem& p) {
  const ExpandShape s(p);
  double expanded = static_cast<double>(s.width * s.channels), filtered = static_cast<double>(s.width * s.high * s.wide);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    expanded *= static_cast<double>(likely(p, p.in[0].dims[i], i ? 56 : 1));
    filtered *= static_cast<double>(likely(p, p.out[0].dims[i], i ? 56 : 1));
  }
  return 2 * (expanded + filtered);
}

}  // namespace tenfold::backends::cpu
