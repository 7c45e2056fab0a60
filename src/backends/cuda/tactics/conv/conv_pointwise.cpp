// conv_pointwise: convolutions that give each position few results, all from its own channels; the result in either order.
#include "backends/cuda/codegen/conv/conv_points.h"

#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/conv/conv_common.h"
#include "backends/cuda/tactics/conv/conv_gemm_common.h"
#include "backends/cuda/tactics/elements_common.h"
#include "backends/cuda/tactics/gemm/mma_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

struct Read {
  PointsProblem points;
  Epilogue epilogue;
};
Verdict read(const Problem& given, Read& r) {
  Problem p = given;
  OperandDesc& y = p.out[0];
  r.points.plain_result = y.layout == kPlain && y.dense && y.dims.size() > 2;
  if (r.points.plain_result) y.layout = kChannelsLast;
  FusedGemm fused;
  if (Verdict v = read_conv(p, fused); !v) return v;
  GemmProblem& g = r.points.gemm;
  g = fused.gemm, r.epilogue = std::move(fused.epilogue);
  g.epilogue = r.epilogue.operands;
  if (g.is_conv) return Verdict::no("results depend on neighbors too");
  if (!is_float(g.out) || bits(g.out) > 32) return Verdict::no(cat("the result is ", name(g.out)));
  if (g.n > 8) return Verdict::no("a position has more than 8 results");
  const int64_t lanes = g.k / 8;
  if (g.k % 8 != 0 || lanes > 32 || (lanes & (lanes - 1)) != 0) return Verdict::no("channels are not 8 times a power of two up to 32");
  for (const EpilogueOperand& o : g.epilogue)
    if (o.kind == EpilogueKind::whole) return Verdict::no("the epilogue reads an operand of the result's shape");
  return Verdict::ok();
}
Verdict supports(const Problem& p) {
  Read r;
  return read(p, r);
}
std::vector<Formats> formats(const Problem& p) {
  std::vector<Formats> all = conv_formats(p);
  if (p.out[0].dims.size() < 3) return all;
  all.push_back(all[0]);
  all[1].out[0] = kPlain;
  return all;
}

struct Kernel {
  PointsProblem points;
  Epilogue epilogue;
  std::shared_ptr<const LoadedModule> module;
  Function function = nullptr;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  Read r;
  read(p, r);
  auto k = std::make_shared<Kernel>();
  k->points = r.points, k->epilogue = std::move(r.epilogue);
  k->points.gemm.body = k->epilogue.has_body ? &k->epilogue.body : nullptr;
  k->module = device_of(*p.device).load(generate_conv_points(k->points), opening);
  k->function = k->module->function("conv");
  return k;
}
Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  PointsArguments a{x.data, args.in[1].data, args.out[0].data, {}, x.dims[0], 1};
  for (int d = 2; d < x.rank; ++d) a.spatial *= x.dims[d];
  a.rows *= a.spatial;
  if (a.rows == 0) return Status::ok;
  for (std::size_t o = 0; o < k.epilogue.inputs.size(); ++o) a.epilogue[o] = args.in[static_cast<std::size_t>(k.epilogue.inputs[o])].data;
  return launch(queue_of(args), k.function, {static_cast<unsigned>(ceil_div(a.rows, int64_t{k.points.positions()}))}, kPointsThreads, 0, &a,
                Start::early);
}

}  // namespace

Tactic cuda_conv_pointwise() {
  return packed_tactic({.name = "conv_pointwise", .ops = {"Conv"}, .formats = formats,
                        .cases = {"Conv f16[2,32,11,13,5] f16[2,32,1,1,1]! f16[2]!",
                                  "Conv bf16[2,128,11,13] bf16[5,128,1,1]!"}},
                       {supports, one_config, nullptr, conv_weight_bytes, pack_conv_weight, unpack_conv_weight, open,
                        run, nullptr});
}

}  // namespace tenfold::backends
