// Reading a convolution problem.
#include "backends/cuda/tactics/conv/conv_common.h"

#include "backends/cuda/tactics/conv/conv_weights_common.h"
#include "backends/cuda/tactics/gemm/gemm_common.h"

namespace tenfold::backends::cuda {
namespace {

// A row for each filter: along it taps, then channels.
WeightOrder rows_of_filters(const Problem& p) {
  const ir::Dims& w = p.in[1].dims;
  WeightOrder o;
  o.filters = w[0].constant(), o.channels = w[1].constant();
  for (std::int64_t t = 0, taps = ir::product(std::span(w).subspan(2)).constant(); t < taps; ++t) o.taps.push_back({0, t});
  o.k = o.channels * std::ssize(o.taps);
  return o;
}

}  // namespace

bool lies_last(const OperandDesc& o) {
  return o.dense && (o.layout == kChannelsLast || (o.layout == kPlain && same_as_plain(kChannelsLast, o.dims)));
}

std::int64_t position_pitch(const OperandDesc& o) {
  if (o.dense || o.layout != kChannelsLast || !o.strides.back().is_constant())
    return lies_last(o) && o.dims[1].is_constant() ? o.dims[1].constant() : -1;
  if (o.strides[1] != ir::Dim(1)) return -1;
  ir::Dim step = o.strides.back();
  for (std::size_t d = o.dims.size(); d-- > 2; step = step * o.dims[d])
    if (o.dims[d] != ir::Dim(1) && o.strides[d] != step) return -1;
  return o.dims[0] == ir::Dim(1) || o.strides[0] == step ? o.strides.back().constant() : -1;
}

bool is_by_channel(const OperandDesc& o, const ir::Dims& result) {
  const std::size_t spatial = result.size() - 2, rank = o.dims.size();
  if (rank == 1) return false;  // broadcasts along the last dim
  if (rank != spatial + 1 && rank != spatial + 2) return false;
  return o.dims[rank - spatial - 1] == result[1] && ir::product(o.dims) == result[1];
}

Verdict match_conv_epilogue(const Problem& p, LibraryEpilogue& epilogue) {
  if (p.anchor_inputs > 2 && p.in.size() > 2 && !p.in[2].missing) epilogue.bias = 2;
  const auto take = [](const Problem& q, int operand, LibraryEpilogue& t) {
    const OperandDesc& o = q.in[static_cast<std::size_t>(operand)];
    if (t.bias < 0 && is_by_channel(o, q.out[0].dims)) return t.bias = operand, true;
    if (t.residual < 0 && o.dims == q.out[0].dims && lies_last(o)) return t.residual = operand, true;
    return false;
  };
  return match_library_epilogue(p, take, epilogue);
}

Verdict conv_is_regular(const Problem& p, bool any_pitch) {
  const OperandDesc &x = p.in[0], &w = p.in[1], &y = p.out[0];
  if (!w.constant || !ir::is_constant(w.dims)) return Verdict::no("the weight is not a constant");
  if (x.dims.size() < 3 || x.dims.size() > 5 || w.dims.size() != x.dims.size() || y.dims.size() != x.dims.size())
    return Verdict::no("not one to three spatial dims");
  if (p.attributes->string("auto_pad", "NOTSET") != "NOTSET") return Verdict::no("pads depend on the run's extents");
  if (!lies_last(x) || !(any_pitch ? position_pitch(y) > 0 : lies_last(y))) return Verdict::no("channels are not innermost");
  if (!(y.dims[0] == x.dims[0]) || !(y.dims[1] == w.dims[0])) return Verdict::no("the epilogue broadcasts the output");
  for (ir::Dim d : w.dims)
    if (d.constant() < 1) return Verdict::no("the weight is empty");
  return Verdict::ok();
}

std::vector<Formats> conv_formats(const Problem& p) {
  Formats f;
  const std::size_t rank = p.out[0].dims.size();
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    const bool image = i == 0 || (static_cast<int>(i) >= p.anchor_inputs && p.in[i].dims == p.out[0].dims);
    f.in.push_back(image && rank > 2 ? kChannelsLast : kPlain);
  }
  f.out.assign(p.out.size(), rank > 2 ? kChannelsLast : kPlain);
  return {f};
}

std::int64_t conv_weight_bytes(const Problem& p, const Config&, int input) { return input == 1 ? packed_weight_bytes(p) : -1; }
void pack_conv_weight(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  pack_weights(p, rows_of_filters(p), constants[1]->raw(), packed);
  add_weight_sums(p, p.in[1].dims[0].constant(), packed);
}
Tensor unpack_conv_weight(const Problem& p, const Config&, int, const void* packed) {
  return unpack_weights(p, rows_of_filters(p), packed);
}

}  // namespace tenfold::backends::cuda
