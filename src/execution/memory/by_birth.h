// The placement for crowds: thousands of buffers that live together. Time: n log n.
#pragma once

#include "memory/problem.h"

namespace tenfold::memory {

// In order of birth, each buffer in the smallest gap between those that live then. Buffers as solve() has checked them.
Solution by_birth(const Problem& problem);

}  // namespace tenfold::memory
