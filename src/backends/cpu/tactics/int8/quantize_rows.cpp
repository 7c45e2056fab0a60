// quantize_rows: each row to bytes with a scale of its own, in front of a product of 8-bit integers or of a cache.
#include "backends/cpu/kernels/int8/quantize_rows.h"
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  if (p.in[0].dtype != DType::f32 || (p.out[0].dtype != DType::u8 && p.out[0].dtype != DType::i8))
    return Verdict::no("rows are not f32, or become neither u8 nor i8");
  return dense_plain(p);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<QuantizeRow>(p.out[0].dtype == DType::u8
                                           ? pick(p, tenfold_quantize_row_avx2, tenfold_quantize_row_avx512)
                                           : pick(p, tenfold_quantize_row_signed_avx2, tenfold_quantize_row_signed_avx512));
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const QuantizeRow quantize = *static_cast<const QuantizeRow*>(self);
  const Bound& x = args.in[0];
  const std::int64_t n = x.dims[x.rank - 1], rows = product(x.dims, 0, x.rank - 1);
  const auto* from = x.as<const float>();
  auto* to = static_cast<std::uint8_t*>(args.out[0].data);
  auto* scales = static_cast<float*>(args.out[1].data);
  for_row_parts(*args.parallel, rows, rows_per_part(n), [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t r = first; r < last; ++r) scales[r] = quantize(from + r * n, n, to + r * n);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_quantize_rows() {
  return {.name = "quantize_rows",
          .ops = {"QuantizeRows"},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .cases = {"QuantizeRows f32[70,384](-3,5)", "QuantizeRows f32[2,33,100](-1,1)", "QuantizeRows f32[3,7](-0.5,0.1)",
                    "QuantizeRows f32[2,3072](-1e-30,1e-30)", "QuantizeRows f32[2,3,5,64](-3,5) to=\"i8\"",
                    "QuantizeRows f32[3,100](-1,1) to=\"i8\"", "QuantizeRows f32[2,7](-1e-30,1e-30) to=\"i8\""}};
}

}  // namespace tenfold::backends
