// Reading GemmRowStats; joining what tiles tell of rows.
#include "backends/cuda/tactics/gemm/gemm_row_stats_common.h"

#include <algorithm>

#include "backends/cuda/codegen/gemm/gemm_wgmma.h"
#include "backends/cuda/device/launch.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

using std::int64_t;

// The sum in f32, as body: inputs are the product and operands 2 to 6, as far as they are there.
void set_epilogue(const Problem& p, Epilogue& epilogue) {
  constexpr EpilogueKind kKinds[] = {EpilogueKind::column, EpilogueKind::whole, EpilogueKind::row, EpilogueKind::row, EpilogueKind::column};
  std::vector<DType> types{p.in[0].dtype};
  std::uint16_t at[5] = {};
  for (std::size_t i = 2; i < std::min<std::size_t>(p.in.size(), 7); ++i) {
    if (p.in[i].missing) continue;
    at[i - 2] = static_cast<std::uint16_t>(types.size());
    types.push_back(p.in[i].dtype), epilogue.inputs.push_back(static_cast<int>(i)),
        epilogue.operands.push_back({kKinds[i - 2], p.in[i].dtype});
  }
  const auto [row, added, inverse, offset, scale] = at;
  ir::BodyBuilder b(types);
  using ir::Prim;
  const auto wide = [&](std::uint16_t v) { return types[v] == DType::f32 ? v : b.cast(v, DType::f32); };
  std::uint16_t sum = wide(0);
  if (scale) {
    const std::uint16_t normal = b.binary(Prim::sub, b.binary(Prim::mul, wide(added), inverse), offset);
    sum = b.binary(Prim::add, sum, b.binary(Prim::mul, normal, wide(scale)));
  } else if (added) {
    sum = b.binary(Prim::add, sum, wide(added));
  }
  if (row) sum = b.binary(Prim::add, sum, wide(row));
  epilogue.body = b.finish({b.cast(sum, p.out[0].dtype)}), epilogue.has_body = true;
}

}  // namespace

Verdict read_gemm_row_stats(const Problem& p, FusedGemm& fused) {
  const DType t = p.in[0].dtype;
  if (p.body) return Verdict::no("no epilogue is possible");
  if (t != DType::f16 && t != DType::bf16) return Verdict::no(cat("operands are ", name(t)));
  if (t == DType::bf16 && p.device->arch < 80) return Verdict::no("needs sm_80 for bf16");
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side)
      if (!o.missing && (!o.dense || (o.layout != kPlain && !same_as_plain(o.layout, o.dims))))
        return Verdict::no("an operand is not dense and plain");
  for (std::size_t i = 1; i < p.in.size(); ++i) {
    const OperandDesc& o = p.in[i];
    const bool by_row = i == 4 || i == 5, like_x = i == 1 || i == 3;
    if (!o.missing && o.dtype != (by_row ? DType::f32 : t) && (like_x || o.dtype != DType::f32))
      return Verdict::no("an operand has another type");
  }
  const ir::Dims& w = p.in[1].dims;
  if (!p.in[1].constant || !w[0].is_constant() || !w[1].is_constant() || w[0].constant() < 1 || w[1].constant() < 1)
    return Verdict::no("the right operand is not one constant matrix");
  GemmProblem& g = fused.gemm;
  g.in = g.weight = g.out = t, g.n = w[1].constant(), g.k = w[0].constant();
  fused.rows = 1;
  for (std::size_t d = 0; d + 1 < p.in[0].dims.size(); ++d)
    fused.rows = std::min<int64_t>(fused.rows * std::clamp<int64_t>(p.bounds(p.in[0].dims[d]).upper, 1, 1 << 14), 1 << 24);
  set_epilogue(p, fused.epilogue);
  return Verdict::ok();
}

MomentsKernel::MomentsKernel(const Problem& p, const GemmProblem& gemm, int columns, Opening& opening)
    : module_(device_of(*p.device).load(generate_moments(gemm, columns, static_cast<double>(p.attributes->number("epsilon"))), opening)),
      finish_(module_->function("finish")),
      plain_(module_->function("plain")) {}

Status::Code MomentsKernel::run(const RunArgs& args, int64_t m, const void* parts, Start start) const noexcept {
  if (!parts) return read(args, m, args.out[0].data, start);
  const MomentsArguments a{parts, args.out[1].data, args.out[2].data, m};
  return launch(queue_of(args), finish_, {ceil_div(m, int64_t{kMomentsThreads})}, kMomentsThreads, 0, &a, start);
}

Status::Code MomentsKernel::read(const RunArgs& args, int64_t m, const void* rows, Start start) const noexcept {
  const MomentsArguments a{rows, args.out[1].data, args.out[2].data, m};
  return launch(queue_of(args), plain_, {m}, kMomentsThreads, 0, &a, start);
}

}  // namespace tenfold::backends::cuda
