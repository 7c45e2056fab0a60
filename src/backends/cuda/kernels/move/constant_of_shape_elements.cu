// ConstantOfShape, a thread for each element.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/move/constant_of_shape_elements.cpp prints those of a problem
#define VALUE 0ull            // its bits
#endif

RULE(element) { ((TY0*)a.out[0].p)[linear<RANKY0>(a.out[0], i)] = (TY0)VALUE; }
