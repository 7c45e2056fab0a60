// From operators on rows to what row kernels are to do.
#include "backends/cuda/tactics/norm/rows_common.h"

#include "base/check.h"
#include "ir/op_def.h"

namespace tenfold::backends::cuda {
namespace {

bool is_computed(DType t) { return t == DType::f32 || t == DType::f16 || t == DType::bf16; }

Verdict lie_plain(const Problem& p) {
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.missing && (!o.dense || (o.layout != kPlain && !same_as_plain(o.layout, o.dims))))
        return Verdict::no("an operand is not dense and plain");
  return Verdict::ok();
}
Verdict take_length(const ir::Dim& length, RowProblem& rows) {
  if (!length.is_constant()) return Verdict::no("the length of a row is not constant");
  rows.length = length.constant();
  return Verdict::only_if(rows.length >= 1 && rows.length <= kLongestRow, "rows are empty or too long");
}

Verdict as_quantized_rows(const Problem& p, RowProblem& rows) {
  rows.kind = RowKind::quantize;
  rows.in = rows.scale = rows.bias = p.in[0].dtype, rows.out = p.out[0].dtype;
  if (!is_computed(rows.in)) return Verdict::no(cat("rows are ", name(rows.in)));
  if (Verdict v = lie_plain(p); !v) return v;
  if (p.out[0].missing || p.out[1].missing) return Verdict::no("a result is not asked for");
  return take_length(p.in[0].dims.back(), rows);
}

}  // namespace

Verdict as_rows(const Problem& p, RowProblem& rows) {
  if (p.body) return Verdict::no("no epilogue is possible");
  if (p.op->name == "QuantizeRows") return as_quantized_rows(p, rows);
  const OperandDesc& x = p.in[0];
  if (x.dims.empty()) return Verdict::no("a scalar has no rows");
  const bool softmax = p.op->name == "Softmax" || p.op->name == "LogSoftmax";
  rows.kind = p.op->name == "Softmax"              ? RowKind::softmax
              : p.op->name == "LogSoftmax"         ? RowKind::log_softmax
              : p.op->name == "LayerNormalization" ? RowKind::layer_norm
                                                   : RowKind::rms_norm;
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.missing && !is_computed(o.dtype)) return Verdict::no(cat("an operand is ", name(o.dtype)));
  if (Verdict v = lie_plain(p); !v) return v;
  for (std::size_t i = 1; i < p.out.size(); ++i)
    if (!p.out[i].missing) return Verdict::no("the statistics are asked for as outputs");
  const auto rank = static_cast<std::int64_t>(x.dims.size());
  const std::int64_t axis = (p.attributes->integer("axis", -1) + rank) % rank;
  if (softmax && axis != rank - 1) return Verdict::no("the axis is not the innermost one");
  const ir::Dim length = ir::product(std::span(x.dims).subspan(static_cast<std::size_t>(axis)));
  if (Verdict v = take_length(length, rows); !v) return v;
  rows.in = x.dtype, rows.out = p.out[0].dtype;
  if (softmax) return Verdict::ok();
  const auto whole = [&](const OperandDesc& o) { return ir::product(o.dims) == length && o.dims.size() <= x.dims.size(); };
  if (!whole(p.in[1])) return Verdict::no("the scale is broadcast along the row");
  rows.scale = p.in[1].dtype;
  rows.epsilon = static_cast<double>(p.attributes->number("epsilon"));
  rows.has_bias = rows.kind == RowKind::layer_norm && p.in.size() > 2 && !p.in[2].missing;
  if (rows.has_bias && !whole(p.in[2])) return Verdict::no("the bias is broadcast along the row");
  if (rows.has_bias) rows.bias = p.in[2].dtype;
  return Verdict::ok();
}

}  // namespace tenfold::backends::cuda
