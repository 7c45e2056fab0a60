// dynamic_quantize: a whole tensor to u8 by its own least and largest element: a walk that looks, and one that quantizes.
#include <algorithm>

#include "backends/cpu/kernels/int8/quantize_rows.h"
#include "backends/cpu/kernels/region/pointwise.h"
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMaxParts = 64;   // a parallel loop's, of which each leaves its extent in the workspace

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  if (Verdict v = dense_plain(p); !v) return v;
  return Verdict::only_if(p.in[0].dtype == DType::f32, "the operand is not f32");
}

struct Kernel {
  ExtentOf extent;
  PointwiseKernel quantize;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{pick(p, tenfold_extent_of_avx2, tenfold_extent_of_avx512),
                                         pick(p, tenfold_pointwise_quantize_avx2, tenfold_pointwise_quantize_avx512).to_u8[1]});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  const std::int64_t n = product(x.dims, 0, x.rank), parts = std::clamp(n / rows_per_part(1), std::int64_t{1}, kMaxParts);
  const auto* from = x.as<const float>();
  auto* to = static_cast<std::uint8_t*>(args.out[0].data);
  auto* extents = static_cast<Extent*>(args.workspace);
  const auto for_parts = [&](auto&& f) {
    args.parallel->for_each(parts, [&](std::int64_t part, int) { f(part, part * n / parts, (part + 1) * n / parts); });
  };
  for_parts([&](std::int64_t part, std::int64_t first, std::int64_t last) { extents[part] = kernel.extent(from + first, last - first); });
  Extent all;   // zero has to be among the values that can be written
  for (std::int64_t i = 0; i < parts; ++i) all.low = std::min(all.low, extents[i].low), all.high = std::max(all.high, extents[i].high);
  const float scale = all.high == all.low ? 1.0f : (all.high - all.low) / 255.0f;
  const float zero = std::clamp(__builtin_nearbyintf(-all.low / scale), 0.0f, 255.0f);
  for_parts([&](std::int64_t, std::int64_t first, std::int64_t last) {
    const PointwiseArg operands[]{{from + first, 0}, {&scale, 0}, {&zero, 0}};
    kernel.quantize(to + first, 0, operands, 0, 1, last - first);
  });
  *static_cast<float*>(args.out[1].data) = scale;
  *static_cast<std::uint8_t*>(args.out[2].data) = static_cast<std::uint8_t>(zero);
  return Status::ok;
}

ir::Dim workspace(const Problem&, const Config&) { return static_cast<std::int64_t>(sizeof(Extent)) * kMaxParts; }

}  // namespace

Tactic cpu_dynamic_quantize() {
  return {.name = "dynamic_quantize",
          .ops = {"DynamicQuantizeLinear"},
          .supports = supports,
          .configs = one_config,
          .workspace = workspace,
          .open = open,
          .run = run,
          .cases = {"DynamicQuantizeLinear f32[70,999](-3,5)", "DynamicQuantizeLinear f32[5](1,2)",
                    "DynamicQuantizeLinear f32[3,7,5000](-9,-1)"}};
}

}  // namespace tenfold::backends
