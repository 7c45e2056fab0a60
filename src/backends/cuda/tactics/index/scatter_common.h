// Scattered updates that are combined: in the order of the updates, so that sums come out the same each time.
#pragma once

#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends::cuda {

// `updates`: those that may fall on one line, one after the other. Types that only move are not combined.
Verdict can_combine(const Problem& p, ir::Dim updates);
// The macro of kernels/index/scatter.cuh.
void define_scatter(KernelText& text, const Problem& p);
// Data is copied, then come the updates: one thread for each line of them where there are lines enough or the data is large, else one for
// each element of the data that looks through its line. Kernels: copy, lane (as in the tactics' names), owner.
Status::Code run_scatter(const OpenThreads& k, const RunArgs& args, std::int64_t lines, std::int64_t updates_of_line) noexcept;

}  // namespace tenfold::backends::cuda
