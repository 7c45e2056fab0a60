// RotaryEmbedding, a thread for each element. A position outside the table is noted.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/attention/rotary_embedding_elements.cpp prints those of a problem
#define HEADS 1
#define TURNED 0             // elements of a head that are turned; 0: all
#define INTERLEAVED 0        // pairs lie side by side
#endif

#include "backends/cuda/kernels/attention/rotation.cuh"

RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  const i64 size = RANK0 == 4 ? a.in[0].d[3] : a.in[0].d[2] / HEADS, inner = at[RANK0 - 1] % size, row = at[RANK0 - 2];
  const T0* x = (const T0*)a.in[0].p + offset<RANK0>(a.in[0], at);
  TY0* y = (TY0*)a.out[0].p + offset<RANK0>(a.out[0], at);
  const i64 turned = TURNED > 0 ? TURNED : size;
  if (inner >= turned) {
    *y = *x;
    return;
  }
  const Pair pair = pair_of(inner, turned);
#if GIVEN3
  i64 position = (i64)((const T3*)a.in[3].p)[at[0] * a.in[3].s[0] + row * a.in[3].s[1]];
  const bool there = position >= 0 && position < a.in[1].d[0];
  if (!there) *a.bad_index = 1, position = 0;
  const i64 cosine = position * a.in[1].s[0] + pair.angle * a.in[1].s[1], sine = position * a.in[2].s[0] + pair.angle * a.in[2].s[1];
#else
  const i64 cosine = at[0] * a.in[1].s[0] + row * a.in[1].s[1] + pair.angle * a.in[1].s[2];
  const i64 sine = at[0] * a.in[2].s[0] + row * a.in[2].s[1] + pair.angle * a.in[2].s[2];
#endif
  const float c = LOAD1(((const T1*)a.in[1].p)[cosine]), s = LOAD2(((const T2*)a.in[2].p)[sine]);
  const float own = LOAD0(*x), its = LOAD0(x[pair.other * a.in[0].s[RANK0 - 1]]);
  const float r = turn(pair, own, its, c, s);
  *y = STOREY0(r);
}
