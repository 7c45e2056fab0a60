// Tables and one run of products whose vectors of results span rows.
#include "backends/cpu/tactics/spread_common.h"

#include <algorithm>

#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

const SpreadF32Kernels& kernels_of(std::int64_t isa) { return isa == kGemmAvx512 ? tenfold_spread_f32_avx512 : tenfold_spread_f32_avx2; }

// Of result `i`, counted on from the first of a row: where its inputs begin, from those of that row.
std::int64_t first_input(const SpreadShape& s, std::int64_t i) {
  return i / s.columns * s.step + i % s.columns / (s.columns / s.groups) * s.depth();
}

bool fits(const SpreadShape& s, std::int64_t lanes) {
  for (std::int64_t column = 0; column < s.columns; ++column)
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t at = first_input(s, column + lane) - first_input(s, column);
      if (at < 0 || at + s.depth() > lanes) return false;
    }
  return true;
}

}  // namespace

std::int64_t spread_lanes(std::int64_t isa) { return kernels_of(isa).lanes; }

Verdict spread_fits(const SpreadShape& s, const DeviceInfo& device) {
  if (s.columns < 1 || s.columns > kMaxSpreadColumns || s.depth() < 1) return Verdict::no("rows are empty or long");
  return Verdict::only_if(fits(s, kernels_of(best_gemm_isa(device)).lanes), "the inputs of a vector of results do not fit one vector");
}

std::vector<Config> spread_configs(const DeviceInfo& device, const SpreadShape& s, std::int64_t rows) {
  std::vector<Config> all;
  const std::int64_t min = ceil_div(std::int64_t{1} << 14, s.columns * (1 + s.depth()));   // less is not worth another worker
  for (const std::int64_t parts : {1, 2, 16}) {
    const Config c{best_gemm_isa(device), std::max({ceil_div(rows, parts), min, std::int64_t{1}})};
    if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  }
  return all;
}

Verdict spread_valid(const SpreadShape& s, const DeviceInfo& device, const Config& c) {
  if (c.size() != 2) return Verdict::no("its configuration has another length");
  if (c[0] != kGemmAvx2 && c[0] != kGemmAvx512) return Verdict::no("it names no instruction set of this version");
  if (const Verdict runs = gemm_isa_runs(device, c[0]); !runs) return runs;
  if (!fits(s, kernels_of(c[0]).lanes)) return Verdict::no("the inputs of a vector of results do not fit one vector");
  return Verdict::only_if(c[1] > 0, "its block size is out of range");
}

std::int64_t spread_bytes(const SpreadShape& s, std::int64_t isa) { return s.depth() * (s.columns + kernels_of(isa).lanes) * 4; }

SpreadKernel::SpreadKernel(const SpreadShape& s, const Config& c, F32Epilogue e)
    : kernels(&kernels_of(c[0])), shape(s), rows(c[1]), epilogue(std::move(e)) {
  for (std::int64_t i = 0; i < s.columns + kernels->lanes; ++i) first.push_back(static_cast<std::int32_t>(first_input(s, i)));
}

SpreadRun::SpreadRun(const SpreadKernel& kernel, const RunArgs& args, const TileAxes& axes, const float* x_end) noexcept
    : kernel_(kernel), args_(args), x_end_(x_end) {
  kernel.epilogue.bind(args, axes, bound_);
  const GemmF32EpilogueArgs& f = bound_.epilogue;
  s_.first = kernel.first.data();
  s_.weights = args.in[1].as<const float>();
  s_.residual = f.residual;
  s_.columns = kernel.shape.columns, s_.depth = kernel.shape.depth(), s_.step = kernel.shape.step;
  s_.low = f.low, s_.high = f.high, s_.clamp = f.clamp;
  if (!f.bias) return;
  for (std::int64_t i = 0, column = 0; i < s_.columns + kernel.kernels->lanes; ++i, column = column + 1 < s_.columns ? column + 1 : 0)
    bias_[i] = f.bias[column];
  s_.bias = bias_;
}

void SpreadRun::rows(const float* x, std::int64_t row, std::int64_t rows, int worker) const noexcept {
  SpreadF32 s = s_;
  if (s.residual) s.residual += row * s.columns;
  float* const y = args_.out[0].as<float>() + row * s.columns;
  kernel_.kernels->run(s, x, x_end_, y, rows);
  if (!kernel_.epilogue.in_registers()) kernel_.epilogue.apply(bound_, row, rows, 0, s.columns, y, s.columns, args_.scratch_of(worker));
}

}  // namespace tenfold::backends::cpu
