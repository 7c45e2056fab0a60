// Turning pairs of a head's elements, as RotaryEmbedding does (INTERLEAVED: pairs lie side by side).
#pragma once

// An element's place in its pair: which angle turns it, and how far the other element lies.
struct Pair {
  i64 angle, other;
  bool second;
};

__device__ __forceinline__ Pair pair_of(i64 element, i64 turned) {
  const i64 half = turned / 2;
  const bool second = INTERLEAVED ? element % 2 != 0 : element >= half;
  return {INTERLEAVED ? element / 2 : element % half, (second ? -1 : 1) * (INTERLEAVED ? 1 : half), second};
}
__device__ __forceinline__ float turn(const Pair& pair, float own, float other, float cosine, float sine) {
  return pair.second ? sine * other + cosine * own : cosine * own - sine * other;
}
