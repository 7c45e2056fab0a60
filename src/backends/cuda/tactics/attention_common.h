// What attention kernels ask of a problem, and what they are given.
#pragma once

#include "backends/cuda/codegen/attention.h"
#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Verdict attention_is_regular(const Problem& p);
AttentionProblem attention_problem(const Problem& p);
AttentionArguments attention_arguments(const RunArgs& args, bool masked) noexcept;
double attention_work(const Problem& p);

}  // namespace tenfold::backends::cuda
