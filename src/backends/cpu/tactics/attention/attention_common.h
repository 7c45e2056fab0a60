// What the tactics of fused attention share: checks of their operands, and heads cut into parts that a kernel computes.
#pragma once

#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "backends/problems/attention_problem.h"

namespace tenfold::backends::cpu {

// Whether keys and values are int8: operands 5 and 6 are the scales of their rows.
inline bool has_int8_cache(const Problem& p) { return p.op->name == "AttentionInt8Cache"; }

// Heads may be strided views of rows; all but the mask are of the queries' type, which the caller has checked, or keys and values are int8.
Verdict attention_supports(const Problem& problem);

struct AttentionPlan {
  const AttentionKernels* kernels = nullptr;
  std::int64_t max_rows = 1, unit = 1;  // query rows of a part, which the kernel takes in multiples of `unit`
  float scale = 1;
  bool causal = false, masked = false, packed = false, nan_rows = false;
  DType type = DType::f32, cache_type = DType::f32, mask_type = DType::f32;  // of queries and results, of keys and values

  AttentionPlan(const Problem& problem, const AttentionKernels& kernels, std::int64_t max_rows, std::int64_t unit);
  Status::Code run(const RunArgs& args) const noexcept;
};
// Query head `head` of a batch entry, with all its rows.
AttentionHead attention_head(const RunArgs& args, const AttentionPlan& plan, std::int64_t batch, std::int64_t head);

}  // namespace tenfold::backends::cpu
