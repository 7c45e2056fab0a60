// erf and GELU for results of two bytes, as CUDA C: a few instructions each, within 2 ulp of f16 for every f16 operand.
#pragma once

#include <string>

namespace tenfold::backends::cuda {

// erf is tanh of x (c0 + c1 t + c2 t^2), t the square of x but at most kErfMost. tanh.approx is right to 2^-11 of its value.
inline constexpr float kErf[] = {1.1283183f, 0.10366856f, -1.6366401e-3f};
inline constexpr float kErfMost = 16.f;

// GELU is (x + |x|) / 2 less |x| Phi(-|x|). Left of zero that tail is all there is, so it is right to its own last bits, not to those of
// a 1 that it is subtracted from: s 2^p(s), s being |x| / kGeluReach but at most 1. Beyond kGeluReach f16 holds nought.
inline constexpr float kGeluReach = 6.f;
inline constexpr float kGeluTail[] = {1.5841426f, -6.8426023f, -17.330223f, -7.8588943f, 3.2736828f};

std::string gelu_text();   // erf_half(x), gelu_tail(x) and gelu_half(x) of floats

}  // namespace tenfold::backends::cuda
