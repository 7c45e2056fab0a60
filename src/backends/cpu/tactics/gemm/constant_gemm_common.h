// What the tactics of a product with a constant f32 matrix share.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

Verdict supports_constant_gemm(const Problem& problem);
Verdict supports_rows_times_constant(const Problem& problem);   // the same for weights of any type
std::int64_t likely_rows(const Problem& problem);
std::int64_t fewest_rows(
    const Problem& problem);  // that a run may have: kernels for few rows are tried where a profile reaches down to them
std::int64_t max_rows(const Problem& problem);   // up to 2^20
double constant_gemm_work(const Problem& problem);

inline std::int64_t k_of(const Problem& p) { return p.in[1].dims[0].constant(); }
inline std::int64_t n_of(const Problem& p) { return p.in[1].dims[1].constant(); }
inline int rank_of(const OperandDesc& o) { return static_cast<int>(o.dims.size()); }

}  // namespace tenfold::backends::cpu
