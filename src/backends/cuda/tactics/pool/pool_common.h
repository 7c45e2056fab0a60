// MaxPool and AveragePool in either layout.
#pragma once

#include "backends/cuda/codegen/pool/pool.h"
#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Verdict pool_supports(const Problem& p);
// Of a problem that is supported; a thread takes one result of each channel.
PoolProblem pool_problem(const Problem& p);
// Channels-last order: channels of a vector of 16 bytes or, where rows of channels would not stay aligned, fewer. Else 1.
int pool_channels_side_by_side(const Problem& p);
PoolArguments pool_arguments(const RunArgs& args) noexcept;

}  // namespace tenfold::backends::cuda
