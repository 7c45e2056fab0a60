// RotaryCacheUpdate: a thread for each element of queries, keys and values where both caches stay in their memory; else for each of queries
// and of the caches, whose elements come of the update or stay. A position outside the table, and a start that leaves no room, are noted.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/attention/rotary_cache_update_elements.cpp prints those of a problem
#define T5 float
#define LOAD5(x) (x)
#define T6 float
#define LOAD6(x) (x)
#define T7 int
#define T8 int
#define INTERLEAVED 0        // pairs lie side by side
#define TURNED 0             // elements of a head that are turned; 0: all
#define CIRCULAR false
#endif

#include "backends/cuda/kernels/attention/rotation.cuh"

constexpr int kQueries = 0, kKeys = 1, kValues = 2, kKeyCache = 3, kCosines = 5, kSines = 6, kPositions = 7, kStart = 8;

__device__ __forceinline__ i64 count_of(const Operand& o) { return o.d[0] * o.d[1] * o.d[2] * o.d[3]; }

// The element of queries or keys at these places, turned.
__device__ __forceinline__ T0 turned(const Arguments& a, const Operand& rows, const i64 (&at)[8]) {
  const T0* from = (const T0*)rows.p + offset<4>(rows, at);
  const i64 count = TURNED > 0 ? TURNED : rows.d[3];
  if (at[3] >= count) return *from;
  const Pair pair = pair_of(at[3], count);
  const Operand &positions = a.in[kPositions], &cosines = a.in[kCosines], &sines = a.in[kSines];
  i64 position = (i64)((const T7*)positions.p)[at[0] * positions.s[0] + at[2] * positions.s[1]];
  const bool there = position >= 0 && position < cosines.d[0];
  if (!there) *a.bad_index = 1, position = 0;
  const float c = LOAD5(((const T5*)cosines.p)[position * cosines.s[0] + pair.angle * cosines.s[1]]);
  const float s = LOAD6(((const T6*)sines.p)[position * sines.s[0] + pair.angle * sines.s[1]]);
  return STOREY0(turn(pair, LOAD0(*from), LOAD0(from[pair.other * rows.s[3]]), c, s));
}
template <bool TURNS> __device__ __forceinline__ T0 new_element(const Arguments& a, const Operand& rows, const i64 (&at)[8]) {
  if (TURNS) return turned(a, rows, at);
  return ((const T0*)rows.p)[offset<4>(rows, at)];
}

// Where the rows of a batch entry begin in a cache; `fits`: there is room for them.
__device__ __forceinline__ i64 start_of(const Arguments& a, i64 entry, i64 rows, i64 extent, bool& fits) {
  const Operand& starts = a.in[kStart];
  i64 start = starts.d[0] == a.in[kKeyCache].d[0] ? (i64)((const T8*)starts.p)[entry * starts.s[0]] : -1;
  fits = start >= 0 && start < extent && rows <= (CIRCULAR ? extent : extent - start);
  if (!fits && rows > 0) *a.bad_index = 1;
  return start;
}

__device__ __forceinline__ void query(const Arguments& a, i64 i) {
  i64 at[8];
  places<4>(a.in[kQueries], i, at);
  ((T0*)a.out[0].p)[offset<4>(a.out[0], at)] = turned(a, a.in[kQueries], at);
}
template <bool TURNS> __device__ __forceinline__ void write_new(const Arguments& a, const Operand& rows, const Operand& cache, i64 i) {
  i64 at[8];
  bool fits;
  places<4>(rows, i, at);
  const T0 value = new_element<TURNS>(a, rows, at);
  at[2] += start_of(a, at[0], rows.d[2], cache.d[2], fits);
  if (!fits) return;
  if (CIRCULAR && at[2] >= cache.d[2]) at[2] -= cache.d[2];
  ((T0*)cache.p)[offset<4>(cache, at)] = value;
}
template <bool TURNS>
__device__ __forceinline__ void write_whole(const Arguments& a, const Operand& rows, const Operand& old, const Operand& cache, i64 i) {
  i64 at[8];
  bool fits;
  places<4>(old, i, at);
  T0* to = (T0*)cache.p + offset<4>(cache, at);
  const T0* from = (const T0*)old.p + offset<4>(old, at);
  i64 step = at[2] - start_of(a, at[0], rows.d[2], old.d[2], fits);
  if (CIRCULAR && step < 0) step += old.d[2];
  const bool is_new = fits && step >= 0 && step < rows.d[2];
  at[2] = step;
  *to = is_new ? new_element<TURNS>(a, rows, at) : *from;
}

RULE(update) {
  const i64 queries = count_of(a.in[kQueries]), keys = count_of(a.in[kKeys]);
  if (i < queries) query(a, i);
  else if (i < queries + keys) write_new<true>(a, a.in[kKeys], a.out[1], i - queries);
  else write_new<false>(a, a.in[kValues], a.out[2], i - queries - keys);
}

RULE(element) {
  const i64 queries = count_of(a.in[kQueries]), keys = count_of(a.in[kKeyCache]);
  if (i < queries) query(a, i);
  else if (i < queries + keys) write_whole<true>(a, a.in[kKeys], a.in[kKeyCache], a.out[1], i - queries);
  else write_whole<false>(a, a.in[kValues], a.in[kKeyCache + 1], a.out[2], i - queries - keys);
}
