// Reading NormGemm; running it in two kernels.
#include "backends/cuda/tactics/gemm/norm_gemm_common.h"

#include <algorithm>

namespace tenfold::backends::cuda {
namespace {

// The rows of x as a product's results, which is how MomentsKernel knows rows.
GemmProblem rows_of(const GemmProblem& product) {
  GemmProblem rows;
  rows.n = product.k, rows.out = product.in;
  return rows;
}

// The product times the inverse deviation, which lies where operands of the problem would end, and the epilogue behind that.
FusedGemm divided(const Problem& p, FusedGemm fused) {
  Epilogue& epilogue = fused.epilogue;
  const DType type = p.in[0].dtype;
  ir::BodyBuilder b({type, DType::f32});
  ir::Body body = b.finish({b.cast(b.binary(ir::Prim::mul, b.cast(0, DType::f32), 1), type)});
  if (epilogue.has_body) {
    std::vector<int> links(epilogue.body.inputs.size(), -1);
    links[0] = body.outputs[0];
    body = ir::compose(body, epilogue.body, links);
  }
  epilogue.body = std::move(body), epilogue.has_body = true;
  epilogue.inputs.insert(epilogue.inputs.begin(), static_cast<int>(p.in.size()));
  epilogue.operands.insert(epilogue.operands.begin(), {EpilogueKind::row, DType::f32});
  return fused;
}

}  // namespace

Verdict read_norm_gemm(const Problem& p, FusedGemm& fused) {
  if (Verdict v = read_matmul(p, fused); !v) return v;
  for (std::size_t i = 1; i < 3; ++i)
    if (!p.out[i].dense) return Verdict::no("a result is not dense");
  return Verdict::only_if(fused.epilogue.inputs.size() < kMaxEpilogueOperands, "the epilogue has too many operands");
}

NormGemmPlain::NormGemmPlain(const Problem& p, const FusedGemm& fused, const Config* c, Opening& opening)
    : moments_(p, rows_of(fused.gemm), static_cast<int>(fused.gemm.k), opening) {
  if (c) product_ = std::make_unique<const MmaKernel>(divided(p, fused), *c, p, opening);
  else product_ = std::make_unique<const MmaKernel>(divided(p, fused), p, opening);
}

Status::Code NormGemmPlain::run(const RunArgs& args, std::int64_t m) const noexcept {
  if (const Status::Code code = moments_.read(args, m, args.in[0].data); code != Status::ok) return code;
  std::array<Bound, 2 + kMaxEpilogueOperands> in;   // read_norm_gemm() leaves room for one more
  *std::copy(args.in.begin(), args.in.end(), in.begin()) = args.out[1];
  RunArgs product = args;
  product.in = std::span(in).first(args.in.size() + 1);
  return product_->run(product, m);
}

}  // namespace tenfold::backends::cuda
