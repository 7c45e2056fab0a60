// A body, element by element over an index space: WIDTH elements a thread of `vectors`, and one of `singles`. What a thread does from its
// linear index i on is printed: its place in the space, reading, the body, writing.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/elements.cpp prints those of a problem
#define INPUTS 1
#define OUTPUTS 1
#define NUMBERS 1
#define THREADS 256
#define COUNT (i64)n[0]      // of elements
#define WIDTH 4
#define INDEX u32
#define VECTORS float x[4]; read<4>((const float*)arguments.in[0] + i * 4, x); write<4>((float*)arguments.out[0] + i * 4, x);
#define SINGLES ((float*)arguments.out[0])[i] = ((const float*)arguments.in[0])[i];
#endif

#include "backends/cuda/kernels/lib/elements_args.h"

using namespace tenfold::backends::cuda;

typedef ElementsArgumentsOf<INPUTS, OUTPUTS, NUMBERS> Arguments;

// i of a kernel whose threads have `width` elements each.
#define ENTER_ELEMENTS(width)                                         \
  enter();                                                            \
  const i64* n = arguments.n;                                         \
  const i64 linear = (i64)blockIdx.x * THREADS + threadIdx.x;         \
  if (linear >= COUNT / width) return;                                \
  INDEX i = (INDEX)linear;                                            \
  (void)n, (void)i;

extern "C" __global__ void __launch_bounds__(THREADS) vectors(Arguments arguments) {
  ENTER_ELEMENTS(WIDTH)
  VECTORS
}
#if WIDTH > 1
extern "C" __global__ void __launch_bounds__(THREADS) singles(Arguments arguments) {
  ENTER_ELEMENTS(1)
  SINGLES
}
#endif
