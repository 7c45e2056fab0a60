// Reading products.
#include "backends/cuda/tactics/product/product_common.h"

#include <algorithm>

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_weights_common.h"
#include "backends/cuda/tactics/threads_common.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

bool is_8_bit(DType t) { return t == DType::i8 || t == DType::u8; }

Verdict types(const Problem& p, F32 f32 = F32::none) {
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
    if (!p.numerics.allows(ir::Rounding::tf32)) return Verdict::no("tensor cores round f32 to tf32, which is not allowed");
    return Verdict::only_if(p.device->arch >= 80, "needs sm_80 for tf32");
  }
  return Verdict::only_if(t != DType::bf16 || p.device->arch >= 80, "needs sm_80 for bf16");
}

// What comes before the epilogue: a convolution's bias; or what an integer zero point, multiplied like any element, added to each sum.
void begin_tail(const Problem& p, Product& product, int64_t together = 1) {
  Tail& tail = product.tail;
  GemmProblem& g = product.gemm;
  g.in = p.in[0].dtype, g.weight = p.in[1].dtype, g.out = p.out[0].dtype;
  if (has_zero_point(p)) {
    const DType type = p.in[2].dtype;
    ir::BodyBuilder b({DType::i32, type, DType::i32});
    tail.body = b.finish({b.binary(ir::Prim::sub, 0, b.binary(ir::Prim::mul, b.cast(1, DType::i32), 2))});
    tail.inputs = {2, 1};
    tail.operands = {{TailKind::single, type}, {TailKind::column, DType::i32, weight_sums_at(p, together)}};
    g.zero_point = 0;
  } else if (p.anchor_inputs > 2 && p.in.size() > 2 && !p.in[2].missing) {
    const DType sum = p.in[0].dtype, bias = p.in[2].dtype;
    ir::BodyBuilder b({sum, bias});
    tail.body = b.finish({b.binary(ir::Prim::add, 0, 1)});
    tail.inputs = {2};
    tail.operands = {{TailKind::column, bias}};
  }
  tail.has_body = !tail.inputs.empty();
}

// One value for each row of a plain result.
bool by_row(const OperandDesc& o, const OperandDesc& y) {
  if (y.layout != kPlain || o.layout != kPlain || o.dims.size() != y.dims.size() || !(o.dims.back() == ir::Dim(1))) return false;
  return std::equal(o.dims.begin(), o.dims.end() - 1, y.dims.begin());
}

// Adds the problem's epilogue to what the tail begins with. `by_column`: whether an operand has one value for each column of the result.
Verdict match_any_tail(const Problem& p, bool (*by_column)(const OperandDesc&, const OperandDesc& result), Product& product) {
  Tail& tail = product.tail;
  const OperandDesc& y = p.out[0];
  const auto add = [&](int i) {
    const OperandDesc& o = p.in[static_cast<std::size_t>(i)];
    TailKind kind;
    if (ir::product(o.dims) == ir::Dim(1))
      kind = TailKind::single;
    else if (o.dense && by_column(o, y))
      kind = TailKind::column;
    else if (o.dims == y.dims && o.dense && o.layout == y.layout)  // even where the result is not dense
      kind = TailKind::whole;
    else if (o.dense && by_row(o, y))
      kind = TailKind::row;
    else
      return false;
    tail.inputs.push_back(i);
    tail.operands.push_back({kind, o.dtype});
    return true;
  };
  if (p.body) {
    for (std::size_t i = static_cast<std::size_t>(p.anchor_inputs); i < p.in.size(); ++i)
      if (!add(static_cast<int>(i))) return Verdict::no("an operand of the epilogue is neither of the result's shape nor by column");
    std::vector<int> links(p.body->inputs.size(), -1);
    if (tail.has_body) links[0] = tail.body.outputs[0];
    tail.body = tail.has_body ? ir::compose(tail.body, *p.body, links) : *p.body;
    tail.has_body = true;
  }
  if (tail.inputs.size() > kMostTail) return Verdict::no("the epilogue has too many operands");
  if (tail.has_body && tail.body.inputs.size() != tail.inputs.size() + 1)
    return Verdict::no("the epilogue has other operands than the problem");
  return tail.has_body ? can_print(tail.body) : Verdict::ok();
}

// Windows side by side, as patches of a picture: taps along x are channels, for they lie beside each other; taps along y become an
// axis of their own where they are more than the eight that TMA can step over. Neither changes where anything lies.
void unfold_patches(GemmProblem& g) {
  const auto side_by_side = [&](std::size_t d) {
    return g.kernel[d] > 1 && g.stride[d] == g.kernel[d] && g.dilation[d] == 1 && g.begin[d] == 0 &&
           g.in_extent[d] == g.out_extent[d] * g.kernel[d];
  };
  if (side_by_side(2)) g.channels *= g.kernel[2], g.in_extent[2] = g.out_extent[2], g.kernel[2] = g.stride[2] = 1;
  if (side_by_side(1) && g.stride[1] > 8 && g.in_extent[0] == 1 && g.kernel[0] == 1 && g.begin[0] == 0) {
    g.in_extent[0] = g.out_extent[0] = g.out_extent[1];
    g.in_extent[1] = g.kernel[1], g.out_extent[1] = g.stride[1] = 1;
  }
}

bool is_last(const OperandDesc& o, const OperandDesc& y) {
  return !o.dims.empty() && o.dims.back() == y.dims.back() && ir::product(o.dims) == y.dims.back();
}
bool is_channel(const OperandDesc& o, const OperandDesc& y) { return is_by_channel(o, y.dims); }

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

Verdict read_matmul(const Problem& p, Product& product, F32 f32) {
  if (Verdict v = types(p, f32); !v) return v;
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (!b.constant || b.dims.size() != 2) return Verdict::no("the right operand is not one constant matrix");
  if (a.dims.size() < 2 || y.dims.size() != a.dims.size())
    return Verdict::no("the left operand is a vector, or the epilogue enlarges the result");
  for (const OperandDesc* o : {&a, &y})
    if (!o->dense || (o->layout != kPlain && !same_as_plain(o->layout, o->dims))) return Verdict::no("an operand is not dense and plain");
  product.rows = 1;
  for (std::size_t d = 0; d + 1 < a.dims.size(); ++d) {
    if (!(a.dims[d] == y.dims[d])) return Verdict::no("the epilogue enlarges the result");
    product.rows = std::min<int64_t>(product.rows * std::clamp<int64_t>(p.bounds(a.dims[d]).upper, 1, 1 << 14), 1 << 24);
  }
  if (!(y.dims.back() == b.dims[1]) || b.dims[0].constant() < 1 || b.dims[1].constant() < 1)
    return Verdict::no("the result has another width");
  product.gemm.n = b.dims[1].constant(), product.gemm.k = b.dims[0].constant();
  begin_tail(p, product);
  return match_any_tail(p, is_last, product);
}

namespace {

// Extents, strides and the like of a convolution, whatever its groups are.
Verdict read_windows(const Problem& p, Product& product) {
  if (Verdict v = conv_is_regular(p, true); !v) return v;
  const ir::Dims &x = p.in[0].dims, &w = p.in[1].dims, &y = p.out[0].dims;
  for (std::size_t d = 1; d < x.size(); ++d)
    if (!x[d].is_constant() || !y[d].is_constant()) return Verdict::no("the extents of an image are not constant");
  if (ir::product(std::span(x).subspan(1)).constant() >= int64_t{1} << 31) return Verdict::no("an image is too large");
  if (ir::product(std::span(y).subspan(1)).constant() < 1) return Verdict::no("the result is empty");
  const std::size_t rank = w.size() - 2, lead = 3 - rank;
  const ir::Ints ones(rank, 1), none(2 * rank, 0), strides = p.attributes->ints("strides", ones),
                                                   dilations = p.attributes->ints("dilations", ones),
                                                   pads = p.attributes->ints("pads", none);
  GemmProblem& g = product.gemm;
  g.channels = w[1].constant(), g.n = w[0].constant(), g.k = ir::product(std::span(w).subspan(1)).constant();
  for (std::size_t i = 0; i < rank; ++i) {
    g.in_extent[lead + i] = x[2 + i].constant(), g.out_extent[lead + i] = y[2 + i].constant(), g.kernel[lead + i] = w[2 + i].constant();
    g.stride[lead + i] = strides[i], g.dilation[lead + i] = dilations[i], g.begin[lead + i] = pads[i];
  }
  product.rows = std::clamp<int64_t>(p.bounds(x[0]).upper, 1, 1 << 12) * ir::product(std::span(y).subspan(2)).constant();
  g.pitch = position_pitch(p.out[0]);
  return Verdict::ok();
}

}  // namespace

Verdict read_conv(const Problem& p, Product& product, F32 f32, bool in_groups) {
  if (Verdict v = types(p, f32); !v) return v;
  const int64_t groups = p.attributes->integer("group", 1);
  if (groups != 1 && !in_groups) return Verdict::no("channels are in groups");
  if (groups != 1 && p.in[0].dtype == DType::f32) return Verdict::no("channels of f32 are in groups");
  if (Verdict v = read_windows(p, product); !v) return v;
  GemmProblem& g = product.gemm;
  if (groups > 1 && g.channels == 1 && groups == g.n && g.taps() <= kMostDepthwiseTaps)
    return Verdict::no("one filter for each channel: conv_depthwise computes that");
  if (g.n % groups != 0 || g.channels * groups != p.in[0].dims[1].constant()) return Verdict::no("channels do not suit the groups");
  const int64_t together = groups_together(groups, g.channels, g.n / groups, g.in);
  if (groups == 1) unfold_patches(g);
  g.groups = groups / together, g.n /= g.groups, g.channels *= together, g.k *= together;
  const std::array<int64_t, 3> one{1, 1, 1}, zero{0, 0, 0};
  g.is_conv = g.groups > 1 || g.kernel != one || g.stride != one || g.begin != zero || g.in_extent != g.out_extent;
  begin_tail(p, product, together);
  return match_any_tail(p, is_channel, product);
}

Verdict read_depthwise(const Problem& p, Product& product) {
  if (Verdict v = types(p, F32::exact); !v) return v;
  if (Verdict v = read_windows(p, product); !v) return v;
  GemmProblem& g = product.gemm;
  if (g.channels != 1 || p.attributes->integer("group", 1) != g.n || p.in[0].dims[1].constant() != g.n)
    return Verdict::no("not one filter for each channel");
  if (g.taps() > kMostDepthwiseTaps) return Verdict::no("more taps than a thread unrolls");
  g.is_conv = true;
  begin_tail(p, product);
  if (g.zero_point < 0) return match_any_tail(p, is_channel, product);
  // The zero point is taken from each element, not from the sum.
  const DType type = product.tail.operands[0].dtype;
  product.tail.inputs.resize(1), product.tail.operands.resize(1);
  product.tail.body = ir::BodyBuilder({DType::i32, type}).finish({0});
  return match_any_tail(p, is_channel, product);
}

namespace {

// Of a transposed convolution of one group: whether they lie side by side, all of them within the result.
bool windows_tile(const Problem& p) {
  const std::span<const ir::Dim> taps = std::span(p.in[1].dims).subspan(2);
  const auto all_are = [&](const char* which, int64_t wanted) {
    const ir::Ints values = p.attributes->ints(which, {});
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == wanted; });
  };
  return p.attributes->integer("group", 1) == 1 && all_are("pads", 0) && all_are("output_padding", 0) && all_are("dilations", 1) &&
         p.attributes->ints("strides", ir::Ints(taps.size(), 1)) == ir::constants(taps);
}

}  // namespace

Verdict read_conv_transpose(const Problem& p, Product& product) {
  if (Verdict v = types(p); !v) return v;
  const OperandDesc &a = p.in[0], &b = p.in[1], &c = p.out[0];
  const ir::Dims &x = a.dims, &w = b.dims, &y = c.dims;
  if (!b.constant || !ir::is_constant(w)) return Verdict::no("the weight is not a constant");
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size() || y.size() != x.size()) return Verdict::no("not one to three spatial dims");
  if (!lies_last(a) || position_pitch(c) < 1) return Verdict::no("channels are not innermost");
  const std::size_t rank = w.size() - 2, lead = 3 - rank;
  const int64_t groups = p.attributes->integer("group", 1);
  if (Verdict v = pads_are_known(p); !v) return v;
  for (std::size_t d = 1; d < x.size(); ++d)
    if (!x[d].is_constant() || !y[d].is_constant()) return Verdict::no("the extents of an image are not constant");
  if (x[1] != w[0] || w[0].constant() % groups != 0) return Verdict::no("channels do not suit the groups");
  if (y != conv_extents(p, true)) return Verdict::no("the epilogue enlarges the result");
  for (const ir::Dims* image : {&x, &y})
    if (ir::product(std::span(*image).subspan(1)).constant() >= int64_t{1} << 31) return Verdict::no("an image is too large");
  for (const ir::Dim d : {ir::product(w), ir::product(std::span(x).subspan(2)), ir::product(std::span(y).subspan(2))})
    if (d.constant() < 1) return Verdict::no("an operand is empty");
  GemmProblem& g = product.gemm;
  g.pitch = position_pitch(c);
  const int64_t together = groups_together(groups, w[0].constant() / groups, w[1].constant(), a.dtype);
  g.groups = groups / together, g.n = w[1].constant() * together, g.channels = w[0].constant() / g.groups;
  if (windows_tile(p)) {
    for (std::size_t i = 0; i < rank; ++i) g.in_extent[lead + i] = x[2 + i].constant(), g.kernel[lead + i] = w[2 + i].constant();
    g.spreads = true, g.k = g.channels, g.n *= g.taps();
  } else {
    if (Verdict v = read_phases(p, g); !v) return v;
    g.k = g.taps() * g.channels;
  }
  const auto& rows = g.spreads ? g.in_extent : g.out_extent;
  product.rows = std::clamp<int64_t>(p.bounds(x[0]).upper, 1, 1 << 12) * rows[0] * rows[1] * rows[2];
  begin_tail(p, product);
  return match_any_tail(p, is_channel, product);
}

double conv_work(const Problem& p, const Product& product) {
  return 2.0 * static_cast<double>(product.rows) * static_cast<double>(ir::product(p.in[1].dims).constant());
}

double product_work(const Product& product) {
  return 2.0 * static_cast<double>(product.rows) * static_cast<double>(product.gemm.n * product.gemm.k);
}

int64_t matmul_rows(const RunArgs& args) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < args.in[0].rank; ++d) rows *= args.in[0].dims[d];
  return rows;
}
int64_t conv_rows(const GemmProblem& p, const RunArgs& args) {
  return args.in[0].dims[0] * p.out_extent[0] * p.out_extent[1] * p.out_extent[2];
}

}  // namespace tenfold::backends::cuda
