// Checks and shapes of int8 convolutions.
#include "backends/cpu/tactics/int8/conv_int8_common.h"

#include "base/check.h"
#include "base/checked.h"
#include "ops/conv/conv_common.h"

namespace tenfold::backends::cpu {
namespace {

ops::Window window_of(const Problem& p) {
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims;
  return ops::window_of(*p.attributes, std::span(x).subspan(2), ir::constants(std::span(w).subspan(2)));
}
bool is_8_bit(DType type) { return type == DType::u8 || type == DType::i8; }

}  // namespace

bool int8_operand_given(const Problem& p, std::size_t i) {
  return i < static_cast<std::size_t>(p.anchor_inputs) && i < p.in.size() && !p.in[i].missing;
}

ConvInt8Shape::ConvInt8Shape(const Problem& p) {
  const ops::Window window = window_of(p);
  const ir::Dims& w = p.in[1].dims;
  filters = w[0].constant();
  depth = w[1].constant();
  groups = p.attributes->integer("group", 1);
  channels = depth * groups;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const std::size_t to = i + 3 - window.rank();
    kernel[to] = window.kernel[i];
    stride[to] = window.strides[i];
    dilation[to] = window.dilations[i];
    begin[to] = window.begin[i].constant();
    padded = padded || !(window.begin[i] == ir::Dim(0) && window.end[i] == ir::Dim(0));
  }
}

Verdict conv_int8_supports(const Problem& p) {
  const OperandDesc &x = p.in[0], &w = p.in[1];
  if (!is_8_bit(x.dtype) || !is_8_bit(w.dtype)) return Verdict::no("operands are not 8-bit integers");
  if (!w.constant || !ir::is_constant(w.dims)) return Verdict::no("the weights are not constant");
  if (x.dims.size() < 3 || x.dims.size() > 5) return Verdict::no("not a convolution of 1, 2 or 3 spatial dims");
  if (ir::product(w.dims) == ir::Dim(0)) return Verdict::no("the weights are empty");
  if (!x.dense || !p.out[0].dense) return Verdict::no("operands are strided");
  if (int8_operand_given(p, 2) && !(ir::product(p.in[2].dims) == ir::Dim(1)))
    return Verdict::no("the zero point of the input is not one value");
  if (int8_operand_given(p, 3)) {
    const ir::Dim size = ir::product(p.in[3].dims);
    if (!p.in[3].constant) return Verdict::no("the zero points of the weights are not constant");
    if (!(size == ir::Dim(1)) && !(size == w.dims[0])) return Verdict::no("the weights have neither one zero point nor one per filter");
  }
  const ops::Window window = window_of(p);
  if (!ir::is_constant(window.begin)) return Verdict::no("padding depends on the input's extents");
  const std::int64_t groups = p.attributes->integer("group", 1);
  if (groups < 1 || w.dims[0].constant() % groups != 0) return Verdict::no("filters do not divide into groups");
  for (const OperandDesc* operand : {&x, &p.out[0]}) {
    if (operand->layout != kChannelsLast && !same_as_plain(kChannelsLast, operand->dims))
      return Verdict::no("the layout is not channels-last");
  }
  if (int8_configs(*p.device, 1, 1).empty()) return Verdict::no("needs avx2");
  return Int8Epilogue::supports(p);
}

std::vector<Formats> conv_int8_formats(const Problem& p) {
  Formats f;
  const std::size_t rank = p.out[0].dims.size();
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    const bool image = i == 0 || (i >= static_cast<std::size_t>(p.anchor_inputs) && p.in[i].dims.size() == rank);
    f.in.push_back(image && !p.in[i].missing && !p.in[i].constant ? kChannelsLast : kPlain);
  }
  f.out.assign(p.out.size(), kChannelsLast);
  return {f};
}

std::int64_t conv_int8_likely_rows(const Problem& p) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < p.out[0].dims.size(); ++i) {
    if (i != 1)
      rows = std::min(checked_mul(rows, std::min(p.bounds(p.out[0].dims[i]).upper, std::int64_t{1} << 16)), std::int64_t{1} << 24);
  }
  return rows;
}

double conv_int8_work(const Problem& p) {
  return 2.0 * static_cast<double>(conv_int8_likely_rows(p)) * static_cast<double>(ir::product(p.in[1].dims).constant());
}

std::vector<std::int32_t> conv_int8_zeros(const Problem& p, std::span<const Tensor* const> constants) {
  const std::int64_t filters = p.in[1].dims[0].constant();
  std::vector<std::int32_t> zeros(static_cast<std::size_t>(filters));
  if (!int8_operand_given(p, 3)) return zeros;
  const Tensor& z = *constants[3];
  for (std::int64_t i = 0; i < filters; ++i)
    zeros[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(z.as_int(z.size() == 1 ? 0 : i));
  return zeros;
}

}  // namespace tenfold::backends::cpu
