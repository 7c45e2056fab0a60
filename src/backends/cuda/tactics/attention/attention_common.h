// What attention kernels ask of a problem, and what they are given.
#pragma once

#include "backends/cuda/codegen/attention/attention.h"
#include "backends/problems/attention_problem.h"

namespace tenfold::backends::cuda {

inline bool is_of_float8(const Problem& p) { return p.op->name == "AttentionFloat8"; }

std::int64_t max_keys(const Problem& p);          // of one batch or sentence, over the box
std::int64_t max_queries(const Problem& p);
Verdict attention_is_regular(const Problem& p);
// Whether a grid has places for a block of every head of every batch.
Verdict heads_fit_a_grid(const Problem& p);
AttentionProblem attention_problem(const Problem& p);
// `longest` of a sentence, 0 where they are not packed.
AttentionArguments attention_arguments(const RunArgs& args, bool masked, std::int64_t longest) noexcept;
// Rows of queries that a head has at most, and batches or sentences with the one more that clears the rest: what a grid covers.
struct AttentionExtent { std::int64_t queries, batches; };
AttentionExtent attention_extent(const AttentionArguments& a) noexcept;

}  // namespace tenfold::backends::cuda
