// LibraryEpilogue: the epilogues that cuBLASLt and cuDNN compute with a product.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

// A bias for each column or channel, a residual of the result's shape, ReLU last: operands of the problem, -1 if there is none.
struct LibraryEpilogue {
  int bias = -1, residual = -1;
  bool relu = false;
};
// Gives a dense addend of the result's type its part in the epilogue; false if it has none.
using TakeAddend = bool (*)(const Problem& p, int operand, LibraryEpilogue& epilogue);
// Reads the problem's body. What `epilogue` has already is kept.
Verdict match_library_epilogue(const Problem& p, TakeAddend take, LibraryEpilogue& epilogue);

}  // namespace tenfold::backends::cuda
