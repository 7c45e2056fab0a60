// What tactics of every device read of a fused attention problem.
#pragma once

#include <algorithm>

#include "backends/tactic.h"

namespace tenfold::backends {

// Operand 4: where each sequence begins (cu_seqlens), of a packed variable-length batch.
inline bool has_offsets(const Problem& p) { return p.in.size() > 4 && !p.in[4].missing; }

// Above 0: a scaled score becomes cap * tanh(score / cap) before the mask.
inline double soft_cap(const Problem& p) { return static_cast<double>(p.attributes->number("softcap", 0)); }

// Whether a row from which every key is hidden gives NaN; else it gives zeros.
inline bool hidden_rows_are_nan(const Problem& p) { return p.attributes->integer("nan_rows", 0) != 0; }

// Operations at the upper bounds; rows see those of their own sentence only.
inline double attention_work(const Problem& p) {
  const auto upper = [&](const ir::Dim& d) { return static_cast<double>(p.bounds(d).upper); };
  const ir::Dims &q = p.in[0].dims, &v = p.in[2].dims;
  const double sentences = has_offsets(p) ? std::max(upper(p.in[4].dims[0]) - 1, 1.0) : 1;
  return 2 * upper(q[0]) * upper(q[1]) * upper(q[2]) * upper(v[2]) / sentences * (upper(q[3]) + upper(v[3]));
}

}  // namespace tenfold::backends
