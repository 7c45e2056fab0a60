// What memory alone takes where predictions of windows are stitched (bench/sliding_windows.py): each prediction is read
// once and each mean is written once past the caches, into pages that are there or into new ones.
//
//   cc -O2 -mavx2 bench/stitching_floor.c -o stitching_floor && ./stitching_floor
#define _GNU_SOURCE
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { kRuns = 15, kLine = 16 };   // floats of a line
static const size_t kHuge = 2 << 20;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static float* map_pages(size_t bytes, int huge) {
  char* p = mmap(NULL, bytes + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) exit(1);
  p += kHuge - (size_t)p % kHuge;
  if (huge) madvise(p, bytes, MADV_HUGEPAGE);
  return (float*)p;   // never given back but by the end of the program
}

// Lines of `from` come in turn; some of them are followed by a line of `to`, so that both end together.
static double once(const float* from, size_t read, float* to, size_t written) {
  const double begin = seconds();
  __m256 sum = _mm256_setzero_ps();
  size_t done = 0;
  for (size_t i = 0; i < read; i += kLine) {
    sum = _mm256_add_ps(sum, _mm256_add_ps(_mm256_load_ps(from + i), _mm256_load_ps(from + i + 8)));
    if ((i + kLine) * written / read < done + kLine) continue;
    _mm256_stream_ps(to + done, sum), _mm256_stream_ps(to + done + 8, sum);
    done += kLine;
  }
  _mm_sfence();
  volatile float kept = _mm256_cvtss_f32(sum);
  (void)kept;
  return seconds() - begin;
}

int main(void) {
  const size_t window = 4 * 64 * 64 * 64, result = 4 * 160 * 160 * 160;
  const struct { const char* overlap; size_t windows; } cases[] = {{"0.5", 64}, {"0.25", 27}};
  for (int c = 0; c < 2; ++c) {
    const size_t read = cases[c].windows * window;
    float *from = map_pages(read * 4, 0), *to = map_pages(result * 4, 1);
    memset(from, 1, read * 4), memset(to, 1, result * 4);
    double there = 1, fresh = 1;
    for (int run = 0; run < kRuns; ++run) {
      const double one = once(from, read, to, result);
      if (one < there) there = one;
      float* made = map_pages(result * 4, 1);
      const double other = once(from, read, made, result);
      if (other < fresh) fresh = other;
      munmap(made, result * 4);
    }
    printf("overlap %s: %.1f ms (%.2f ns a value, %.1f GB/s), into new pages %.1f ms (%.2f)\n", cases[c].overlap,
           there * 1e3, there / (double)read * 1e9, (double)(read + result) * 4 / there * 1e-9, fresh * 1e3,
           fresh / (double)read * 1e9);
  }
  return 0;
}
