// matmul_spread: activations of few values a row times a small constant matrix; vectors of results span rows.
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/cpu/tactics/spread_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

SpreadShape shape_of(const Problem& p) { return {.inputs = k_of(p), .columns = n_of(p), .step = k_of(p)}; }
F32Epilogue epilogue_of(const Problem& p) { return F32Epilogue(p, rank_of(p.out[0]) - 1); }

Verdict supports(const Problem& p) {
  if (const Verdict common = supports_constant_gemm(p); !common) return common;
  if (!p.in[0].dense || !p.out[0].dense || rank_of(p.out[0]) < 2) return Verdict::no("there are gaps between rows");
  return spread_fits(shape_of(p), *p.device);
}
std::vector<Config> configs(const Problem& p) { return spread_configs(*p.device, shape_of(p), likely_rows(p)); }
Verdict valid(const Problem& p, const Config& c) { return spread_valid(shape_of(p), *p.device, c); }

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) { return input == 1 ? spread_bytes(shape_of(p), c[0]) : -1; }
void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const float* b = constants[1]->data<float>();
  pack_spread(shape_of(p), c[0], static_cast<float*>(packed), [&](std::int64_t column, std::int64_t k) { return b[k * n_of(p) + column]; });
}
Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  Tensor b(DType::f32, {k_of(p), n_of(p)});
  const std::int64_t pitch = n_of(p) + spread_lanes(c[0]);
  for (std::int64_t k = 0; k < k_of(p); ++k)
    std::copy_n(static_cast<const float*>(packed) + k * pitch, n_of(p), b.mutable_data<float>() + k * n_of(p));
  return b;
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  return std::make_shared<SpreadKernel>(shape_of(p), c, epilogue_of(p));
}
ir::Dim worker_scratch(const Problem& p, const Config&) { return epilogue_of(p).scratch_bytes(); }

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const SpreadKernel*>(self);
  const Bound& a = args.in[0];
  std::int64_t m = 1;
  for (int i = 0; i + 1 < a.rank; ++i) m *= a.dims[i];
  if (m == 0) return Status::ok;
  const float* const x = a.as<const float>();
  const SpreadRun all(kernel, args, TileAxes::last(args.out[0].rank), x + m * kernel.shape.inputs);
  const std::int64_t parts = ceil_div(m, kernel.rows);
  args.parallel->for_each(parts, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t row = part * m / parts, end = (part + 1) * m / parts;
    all.rows(x + row * kernel.shape.step, row, end - row, worker);
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_spread() {
  return packed_tactic({.name = "matmul_spread", .ops = {"MatMul"}, .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, constant_gemm_work});
}

}  // namespace tenfold::backends
