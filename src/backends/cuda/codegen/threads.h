// Kernels with a thread for each element: the frame around an operator's rule of places. The rule is text that defines functions
// `RULE(name) {...}` of arguments a and element i; operands come with extents and strides, so that views are read as they lie.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

inline constexpr int kMostThreadsDims = 8, kMostThreadsOperands = 8, kThreadsOfBlock = 256;

struct ThreadsOperand {
  void* data;
  std::int64_t dims[kMostThreadsDims], strides[kMostThreadsDims];
};

// Every operand plain, of whole bytes and not too many dims. `finishes`: the text ends in `finish(a, at, r)`, so that an epilogue can
// follow.
Verdict can_generate_threads(const Problem& p, bool finishes = false);

// For operand i of the inputs the text may use Ti and Ci (storage and computing type), LOADi(x), RANKi, GIVENi, OWNi (no operand of an
// epilogue) and a.in[i]; for output i TYi, CYi, STOREi(x), RANKYi and a.out[i]. Types that CUDA C has not are moved only: unsigned integers
// of their size. finish(a, at, r) stores r, or what the epilogue makes of it, at these places of the first result. `functions`: a kernel of
// that name is made for each, for as many elements as a.count says.
std::string generate_threads(const Problem& p, const std::string& defines, std::string_view text,
                             const std::vector<std::string>& functions);

}  // namespace tenfold::backends::cuda
