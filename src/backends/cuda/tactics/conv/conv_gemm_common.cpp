// Reading convolutions.
#include "backends/cuda/tactics/conv/conv_gemm_common.h"

#include <algorithm>

#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_weights_common.h"
#include "backends/cuda/tactics/threads_common.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

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

bool is_channel(const OperandDesc& o, const OperandDesc& y) { return is_by_channel(o, y.dims); }

// Extents, strides and the like of a convolution, whatever its groups are.
Verdict read_windows(const Problem& p, FusedGemm& fused) {
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
  GemmProblem& g = fused.gemm;
  g.channels = w[1].constant(), g.n = w[0].constant(), g.k = ir::product(std::span(w).subspan(1)).constant();
  for (std::size_t i = 0; i < rank; ++i) {
    g.in_extent[lead + i] = x[2 + i].constant(), g.out_extent[lead + i] = y[2 + i].constant(), g.kernel[lead + i] = w[2 + i].constant();
    g.stride[lead + i] = strides[i], g.dilation[lead + i] = dilations[i], g.begin[lead + i] = pads[i];
  }
  fused.rows = std::clamp<int64_t>(p.bounds(x[0]).upper, 1, 1 << 12) * ir::product(std::span(y).subspan(2)).constant();
  g.pitch = position_pitch(p.out[0]);
  return Verdict::ok();
}

}  // namespace

Verdict read_conv(const Problem& p, FusedGemm& fused, F32 f32, bool in_groups) {
  if (Verdict v = product_types(p, f32); !v) return v;
  const int64_t groups = p.attributes->integer("group", 1);
  if (groups != 1 && !in_groups) return Verdict::no("channels are in groups");
  if (groups != 1 && p.in[0].dtype == DType::f32) return Verdict::no("channels of f32 are in groups");
  if (Verdict v = read_windows(p, fused); !v) return v;
  GemmProblem& g = fused.gemm;
  if (groups > 1 && g.channels == 1 && groups == g.n && g.taps() <= kMaxDepthwiseTaps)
    return Verdict::no("one filter for each channel: conv_depthwise computes that");
  if (g.n % groups != 0 || g.channels * groups != p.in[0].dims[1].constant()) return Verdict::no("channels do not suit the groups");
  const int64_t together = groups_together(groups, g.channels, g.n / groups, g.in);
  if (groups == 1) unfold_patches(g);
  g.groups = groups / together, g.n /= g.groups, g.channels *= together, g.k *= together;
  const std::array<int64_t, 3> one{1, 1, 1}, zero{0, 0, 0};
  g.is_conv = g.groups > 1 || g.kernel != one || g.stride != one || g.begin != zero || g.in_extent != g.out_extent;
  begin_epilogue(p, fused, together);
  return match_epilogue(p, is_channel, fused);
}

Verdict read_depthwise(const Problem& p, FusedGemm& fused) {
  if (Verdict v = product_types(p, F32::exact); !v) return v;
  if (Verdict v = read_windows(p, fused); !v) return v;
  GemmProblem& g = fused.gemm;
  if (g.channels != 1 || p.attributes->integer("group", 1) != g.n || p.in[0].dims[1].constant() != g.n)
    return Verdict::no("not one filter for each channel");
  if (g.taps() > kMaxDepthwiseTaps) return Verdict::no("more taps than a thread unrolls");
  g.is_conv = true;
  begin_epilogue(p, fused);
  if (g.zero_point < 0) return match_epilogue(p, is_channel, fused);
  // The zero point is taken from each element, not from the sum.
  const DType type = fused.epilogue.operands[0].dtype;
  fused.epilogue.inputs.resize(1), fused.epilogue.operands.resize(1);
  fused.epilogue.body = ir::BodyBuilder({DType::i32, type}).finish({0});
  return match_epilogue(p, is_channel, fused);
}

namespace {

// Of a transposed convolution of one group: whether they lie side by side, all of them within the result.
bool windows_tile(const Problem& p) {
  const std::span<const ir::Dim> taps = std::span(p.in[1].dims).subspan(2);
  const auto all_are = [&](const char* which, int64_t requested) {
    const ir::Ints values = p.attributes->ints(which, {});
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == requested; });
  };
  return p.attributes->integer("group", 1) == 1 && all_are("pads", 0) && all_are("output_padding", 0) && all_are("dilations", 1) &&
         p.attributes->ints("strides", ir::Ints(taps.size(), 1)) == ir::constants(taps);
}

}  // namespace

Verdict read_conv_transpose(const Problem& p, FusedGemm& fused) {
  if (Verdict v = product_types(p); !v) return v;
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
  if (y != conv_extents(p, true)) return Verdict::no("the epilogue broadcasts the output");
  for (const ir::Dims* image : {&x, &y})
    if (ir::product(std::span(*image).subspan(1)).constant() >= int64_t{1} << 31) return Verdict::no("an image is too large");
  for (const ir::Dim& d : {ir::product(w), ir::product(std::span(x).subspan(2)), ir::product(std::span(y).subspan(2))})
    if (d.constant() < 1) return Verdict::no("an operand is empty");
  GemmProblem& g = fused.gemm;
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
  fused.rows = std::clamp<int64_t>(p.bounds(x[0]).upper, 1, 1 << 12) * rows[0] * rows[1] * rows[2];
  begin_epilogue(p, fused);
  return match_epilogue(p, is_channel, fused);
}

double conv_work(const Problem& p, const FusedGemm& fused) {
  return 2.0 * static_cast<double>(fused.rows) * static_cast<double>(ir::product(p.in[1].dims).constant());
}

int64_t conv_rows(const GemmProblem& p, const RunArgs& args) {
  return args.in[0].dims[0] * p.out_extent[0] * p.out_extent[1] * p.out_extent[2];
}

}  // namespace tenfold::backends::cuda
