// The numbers of erf and GELU for results of two bytes: for CUDA C (gelu.cuh) and for those who check them. They are macros, for NVRTC puts
// every float of a namespace that a kernel uses into its global memory.
#pragma once

// erf is tanh of x (c0 + c1 t + c2 t^2), t the square of x but at most TENFOLD_ERF_MOST. tanh.approx is right to 2^-11 of its value.
#define TENFOLD_ERF_0 1.1283183f
#define TENFOLD_ERF_1 0.10366856f
#define TENFOLD_ERF_2 -1.6366401e-3f
#define TENFOLD_ERF_MOST 16.f

// GELU is (x + |x|) / 2 less |x| Phi(-|x|). Left of zero that tail is all there is, so it is right to its own last bits, not to those of
// a 1 that it is subtracted from: s 2^p(s), s being |x| / TENFOLD_GELU_REACH but at most 1. Beyond that f16 holds nought.
#define TENFOLD_GELU_REACH 6.f
#define TENFOLD_GELU_TAIL_0 1.5841426f
#define TENFOLD_GELU_TAIL_1 -6.8426023f
#define TENFOLD_GELU_TAIL_2 -17.330223f
#define TENFOLD_GELU_TAIL_3 -7.8588943f
#define TENFOLD_GELU_TAIL_4 3.2736828f
