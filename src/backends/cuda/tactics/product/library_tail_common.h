// LibraryTail: the epilogues that cuBLASLt and cuDNN compute with a product.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

// A bias for each column or channel, a residual of the result's shape, ReLU last: operands of the problem, -1 if there is none.
struct LibraryTail {
  int bias = -1, residual = -1;
  bool relu = false;
};
// Gives a dense addend of the result's type its part in the tail; false if it has none.
using TakeAddend = bool (*)(const Problem& p, int operand, LibraryTail& tail);
// Reads the problem's body. What `tail` has already is kept.
Verdict match_library_tail(const Problem& p, TakeAddend take, LibraryTail& tail);

}  // namespace tenfold::backends::cuda
