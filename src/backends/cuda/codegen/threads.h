// Kernels with a thread for each element: an operator's rule of places is a file of kernels/, which the frame of kernels/lib/threads.cuh
// makes a kernel.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/kernels/lib/threads_args.h"
#include "backends/tactic.h"

namespace tenfold::backends::cuda {

inline constexpr int kMaxThreadsDims = std::extent_v<decltype(ThreadsOperand::d)>, kMaxThreadsOperands = 9, kThreadsOfBlock = 256;

// Every operand plain, of whole bytes and not too many dims. `finishes`: the rule ends in `finish(a, at, r)`, so that an epilogue can
// follow.
Verdict can_generate_threads(const Problem& p, bool finishes = false);

// The text of a file that has such rules; `text`: what else specializes it.
std::string generate_threads(const Problem& p, std::string_view file, KernelText text);

}  // namespace tenfold::backends::cuda
