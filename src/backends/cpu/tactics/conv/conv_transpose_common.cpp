// Reading a transposed convolution whose windows do not overlap.
#include "backends/cpu/tactics/conv/conv_transpose_common.h"

#include <algorithm>

namespace tenfold::backends::cpu {
namespace {

bool all_are(const ir::Ints& values, std::int64_t v) {
  return std::all_of(values.begin(), values.end(), [v](std::int64_t x) { return x == v; });
}

}  // namespace

ConvShape conv_transpose_shape(const Problem& p) {
  const ir::Dims& w = p.in[1].dims;
  ConvShape s;
  s.channels = s.depth = w[0].constant();
  s.filters = s.width = w[1].constant();
  for (std::size_t i = 2; i < w.size(); ++i) s.kernel[i + 3 - w.size()] = s.stride[i + 3 - w.size()] = w[i].constant();
  return s;
}

Verdict conv_transpose_apart(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims, &y = p.out[0].dims;
  if (!p.in[1].constant || !ir::is_constant(w)) return Verdict::no("the weight is not a constant");
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size() || y.size() != x.size()) return Verdict::no("not one to three spatial dims");
  for (ir::Dim d : w)
    if (d.constant() < 1 || d.constant() > 1 << 20) return Verdict::no("the weight is empty or too large");
  const std::size_t rank = x.size() - 2;
  if (p.attributes->integer("group", 1) != 1) return Verdict::no("it has groups");
  if (p.attributes->string("auto_pad", "NOTSET") != "NOTSET") return Verdict::no("pads depend on the run's extents");
  if (!all_are(p.attributes->ints("pads", {}), 0) || !all_are(p.attributes->ints("output_padding", {}), 0) ||
      !all_are(p.attributes->ints("dilations", {}), 1))
    return Verdict::no("it pads or dilates");
  if (p.attributes->ints("strides", ir::Ints(rank, 1)) != ir::constants(std::span(w).subspan(2)))
    return Verdict::no("windows overlap or leave gaps");
  if (x[1] != w[0] || y[0] != x[0] || y[1] != w[1]) return Verdict::no("the epilogue changes the result's extents");
  for (std::size_t i = 2; i < x.size(); ++i)
    if (y[i] != x[i] * w[i]) return Verdict::no("the epilogue changes the result's extents");
  return Verdict::only_if(unit_channels(p.in[0]) && uniform_positions(p.out[0]), "not channels-last");
}

double conv_transpose_work(const Problem& p) {
  const ConvShape s = conv_transpose_shape(p);
  return 2.0 * static_cast<double>(conv_likely_rows(p)) * static_cast<double>(s.filters * s.channels);
}

}  // namespace tenfold::backends::cpu
