// Reading products.
#include "backends/cuda/tactics/gemm/gemm_common.h"

#include <algorithm>

#include "backends/cuda/codegen/body_text.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {

using std::int64_t;

namespace {

bool is_8_bit(DType t) { return t == DType::i8 || t == DType::u8; }

}  // namespace

Verdict product_types(const Problem& p, F32 f32) {
  const DType t = p.in[0].dtype;
  if (t == DType::f8e4m3fn) return Verdict::only_if(p.device->arch >= 89, "needs sm_89 for e4m3");
  if (is_8_bit(t)) {
    if (!is_8_bit(p.in[1].dtype)) return Verdict::no("the weights are no integers of 8 bits");
    if (has_zero_point(p) && !(ir::product(p.in[2].dims) == ir::Dim(1))) return Verdict::no("the zero point differs between rows");
    return Verdict::only_if(p.anchor_inputs < 4 || p.in.size() < 4 || p.in[3].missing, "the weights have zero points");
  }
  if (t != DType::f16 && t != DType::bf16 && !(f32 != F32::none && t == DType::f32)) return Verdict::no(cat("operands are ", name(t)));
  if (p.in[1].dtype != t) return Verdict::no("operands differ in type");
  if (t == DType::f32 && f32 == F32::tf32) {
    if (!p.numerics.allows(ir::Rounding::tf32)) return Verdict::no("TF32 is not allowed (--noTF32, BuildConfig::tf32 = false)");
    return Verdict::only_if(p.device->arch >= 80, "needs sm_80 for tf32");
  }
  return Verdict::only_if(t != DType::bf16 || p.device->arch >= 80, "needs sm_80 for bf16");
}

void begin_epilogue(const Problem& p, FusedGemm& fused, int64_t together) {
  Epilogue& epilogue = fused.epilogue;
  GemmProblem& g = fused.gemm;
  g.in = p.in[0].dtype, g.weight = p.in[1].dtype, g.out = p.out[0].dtype;
  if (has_zero_point(p)) {
    const DType type = p.in[2].dtype;
    ir::BodyBuilder b({DType::i32, type, DType::i32});
    epilogue.body = b.finish({b.binary(ir::Prim::sub, 0, b.binary(ir::Prim::mul, b.cast(1, DType::i32), 2))});
    epilogue.inputs = {2, 1};
    epilogue.operands = {{EpilogueKind::single, type}, {EpilogueKind::column, DType::i32, weight_sums_at(p, together)}};
    g.zero_point = 0;
  } else if (p.anchor_inputs > 2 && p.in.size() > 2 && !p.in[2].missing) {
    const DType sum = p.in[0].dtype, bias = p.in[2].dtype;
    ir::BodyBuilder b({sum, bias});
    epilogue.body = b.finish({b.binary(ir::Prim::add, 0, 1)});
    epilogue.inputs = {2};
    epilogue.operands = {{EpilogueKind::column, bias}};
  }
  epilogue.has_body = !epilogue.inputs.empty();
}

namespace {

// One value for each row of a plain result.
bool by_row(const OperandDesc& o, const OperandDesc& y) {
  if (y.layout != kPlain || o.layout != kPlain || o.dims.size() != y.dims.size() || !(o.dims.back() == ir::Dim(1))) return false;
  return std::equal(o.dims.begin(), o.dims.end() - 1, y.dims.begin());
}

}  // namespace

Verdict match_epilogue(const Problem& p, bool (*by_column)(const OperandDesc&, const OperandDesc& result), FusedGemm& fused) {
  Epilogue& epilogue = fused.epilogue;
  const OperandDesc& y = p.out[0];
  const auto add = [&](int i) {
    const OperandDesc& o = p.in[static_cast<std::size_t>(i)];
    EpilogueKind kind;
    if (ir::product(o.dims) == ir::Dim(1))
      kind = EpilogueKind::single;
    else if (o.dense && by_column(o, y))
      kind = EpilogueKind::column;
    else if (o.dims == y.dims && o.dense && o.layout == y.layout)  // even where the result is not dense
      kind = EpilogueKind::whole;
    else if (o.dense && by_row(o, y))
      kind = EpilogueKind::row;
    else
      return false;
    epilogue.inputs.push_back(i);
    epilogue.operands.push_back({kind, o.dtype});
    return true;
  };
  if (p.body) {
    for (std::size_t i = static_cast<std::size_t>(p.anchor_inputs); i < p.in.size(); ++i)
      if (!add(static_cast<int>(i))) return Verdict::no("an operand of the epilogue is neither of the result's shape nor by column");
    std::vector<int> links(p.body->inputs.size(), -1);
    if (epilogue.has_body) links[0] = epilogue.body.outputs[0];
    epilogue.body = epilogue.has_body ? ir::compose(epilogue.body, *p.body, links) : *p.body;
    epilogue.has_body = true;
  }
  if (epilogue.inputs.size() > kMaxEpilogueOperands) return Verdict::no("the epilogue has too many operands");
  if (epilogue.has_body && epilogue.body.inputs.size() != epilogue.inputs.size() + 1)
    return Verdict::no("the epilogue has other operands than the problem");
  return epilogue.has_body ? can_print(epilogue.body) : Verdict::ok();
}

namespace {

bool is_last(const OperandDesc& o, const OperandDesc& y) {
  return !o.dims.empty() && o.dims.back() == y.dims.back() && ir::product(o.dims) == y.dims.back();
}

}  // namespace

bool has_zero_point(const Problem& p) { return is_8_bit(p.in[0].dtype) && p.anchor_inputs > 2 && p.in.size() > 2 && !p.in[2].missing; }
int64_t weight_sums_at(const Problem& p, int64_t together) { return round_up(ir::product(p.in[1].dims).constant() * together, 64); }

int64_t packed_weight_bytes(const Problem& p, int64_t together) {
  const OperandDesc& w = p.in[1];
  if (!has_zero_point(p)) return ir::product(w.dims).constant() * together * bits(w.dtype) / 8;
  const std::size_t rows = p.op->name == "MatMulInteger" ? w.dims.size() - 1 : 0;
  return weight_sums_at(p, together) + 4 * w.dims[rows].constant();
}

void add_weight_sums(const Problem& p, int64_t rows, void* packed, int64_t together) {
  if (!has_zero_point(p)) return;
  const auto* row = static_cast<const std::uint8_t*>(packed);
  auto* sums = reinterpret_cast<std::int32_t*>(static_cast<char*>(packed) + weight_sums_at(p, together));
  const int64_t length = ir::product(p.in[1].dims).constant() * together / rows;
  const bool is_signed = p.in[1].dtype == DType::i8;
  for (int64_t r = 0; r < rows; ++r, row += length) {
    sums[r] = 0;
    for (int64_t k = 0; k < length; ++k) sums[r] += is_signed ? static_cast<std::int8_t>(row[k]) : row[k];
  }
}

Verdict read_matmul(const Problem& p, FusedGemm& fused, F32 f32) {
  if (Verdict v = product_types(p, f32); !v) return v;
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (!b.constant || b.dims.size() != 2) return Verdict::no("the right operand is not one constant matrix");
  if (a.dims.size() < 2) return Verdict::no("the left operand is a vector; expected a matrix");
  if (y.dims.size() != a.dims.size()) return Verdict::no("the epilogue broadcasts the output to another rank");
  for (const OperandDesc* o : {&a, &y})
    if (!o->dense || (o->layout != kPlain && !same_as_plain(o->layout, o->dims))) return Verdict::no("an operand is not dense and plain");
  fused.rows = 1;
  for (std::size_t d = 0; d + 1 < a.dims.size(); ++d) {
    if (!(a.dims[d] == y.dims[d])) return Verdict::no("the epilogue broadcasts the output");
    fused.rows = std::min<int64_t>(fused.rows * std::clamp<int64_t>(p.bounds(a.dims[d]).upper, 1, 1 << 14), 1 << 24);
  }
  if (!(y.dims.back() == b.dims[1]) || b.dims[0].constant() < 1 || b.dims[1].constant() < 1)
    return Verdict::no("the result has another width");
  fused.gemm.n = b.dims[1].constant(), fused.gemm.k = b.dims[0].constant();
  begin_epilogue(p, fused);
  return match_epilogue(p, is_last, fused);
}

double gemm_work(const FusedGemm& fused) {
  return 2.0 * static_cast<double>(fused.rows) * static_cast<double>(fused.gemm.n * fused.gemm.k);
}

int64_t matmul_rows(const RunArgs& args) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < args.in[0].rank; ++d) rows *= args.in[0].dims[d];
  return rows;
}

}  // namespace tenfold::backends::cuda
