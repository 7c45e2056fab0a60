// What one core multiplies in registers, 10^9 multiplications and additions a second: f32 by FMA, f16 by AVX512-FP16 with at most 32
// products summed before they go to f32, bf16 by AMX. Why CPUs here compute fp16 in f32 (docs/lab/precision.md).
//   gcc -O3 -march=sapphirerapids -o build/fp16_peak bench/fp16_peak.c && build/fp16_peak
#include <immintrin.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kRows = 6, kVectors = 2, kDepth = 32, kSlices = 4000, kTimes = 60 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Not static, so that the compiler does not know that all of it is zero.
float a32[kRows][kDepth];
_Float16 a16[kRows][kDepth];
float b32[kDepth][32] __attribute__((aligned(64)));
_Float16 b16[kDepth][64] __attribute__((aligned(64)));
float sink[4096] __attribute__((aligned(64)));

static double f32_slice(void) {   // 6 rows of 32 columns
  __m512 c[kRows][kVectors] = {};
  for (int k = 0; k < kDepth; ++k)
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        c[r][v] = _mm512_fmadd_ps(_mm512_set1_ps(a32[r][k]), _mm512_load_ps(&b32[k][16 * v]), c[r][v]);
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) _mm512_store_ps(sink + 32 * r + 16 * v, c[r][v]);
  return 2.0 * kRows * 32 * kDepth;
}

static double f16_slice(void) {   // 6 rows of 64 columns; their sums of 32 products are added to f32 in the nearest cache
  __m512h c[kRows][kVectors] = {};
  for (int k = 0; k < kDepth; ++k)
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        c[r][v] = _mm512_fmadd_ph(_mm512_set1_ph(a16[r][k]), _mm512_load_ph(&b16[k][32 * v]), c[r][v]);
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      float* to = sink + 64 * r + 32 * v;
      const __m512i bits = _mm512_castph_si512(c[r][v]);
      const __m256h low = _mm256_castsi256_ph(_mm512_castsi512_si256(bits)), high = _mm256_castsi256_ph(_mm512_extracti64x4_epi64(bits, 1));
      _mm512_store_ps(to, _mm512_add_ps(_mm512_load_ps(to), _mm512_cvtxph_ps(low)));
      _mm512_store_ps(to + 16, _mm512_add_ps(_mm512_load_ps(to + 16), _mm512_cvtxph_ps(high)));
    }
  return 2.0 * kRows * 64 * kDepth;
}

char tiles[4][1024] __attribute__((aligned(64)));
static double bf16_slice(void) {   // 32 rows of 32 columns, 32 products
  _tile_loadd(4, tiles[0], 64);
  _tile_loadd(5, tiles[1], 64);
  _tile_loadd(6, tiles[2], 64);
  _tile_loadd(7, tiles[3], 64);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
  return 2.0 * 32 * 32 * 32;
}

static void report(const char* name, double (*slice)(void)) {
  double best = 0;
  for (int t = 0; t < kTimes; ++t) {
    const double start = now();
    double done = 0;
    for (int s = 0; s < kSlices; ++s) done += slice();
    const double rate = done / (now() - start) * 1e-9;
    if (rate > best) best = rate;
  }
  printf("%s %.0f GFLOP/s\n", name, best);
}

int main(void) {
  report("f32, FMA", f32_slice);
  report("f16, at most 32 products before f32", f16_slice);
  if (syscall(SYS_arch_prctl, 0x1023, 18)) return puts("no AMX"), 0;
  struct { unsigned char palette, start, reserved[14]; unsigned short width[16]; unsigned char rows[16]; } shape;
  memset(&shape, 0, sizeof shape);
  shape.palette = 1;
  for (int t = 0; t < 8; ++t) shape.width[t] = 64, shape.rows[t] = 16;
  _tile_loadconfig(&shape);
  report("bf16, AMX", bf16_slice);
  _tile_release();
  return 0;
}
