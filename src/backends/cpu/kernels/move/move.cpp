// Copies of rows and transposes of blocks.
#include "backends/cpu/kernels/move/move.h"

#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/transpose.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

void copy_rows(void* to, int64_t to_row, const void* from, int64_t from_row, int64_t rows, int64_t bytes) {
  auto* o = static_cast<char*>(to);
  const auto* a = static_cast<const char*>(from);
  if (bytes > 1024) {
    for (int64_t r = 0; r < rows; ++r) __builtin_memcpy(o + r * to_row, a + r * from_row, static_cast<unsigned long>(bytes));
    return;
  }
  for (int64_t r = 0; r < rows; ++r, o += to_row, a += from_row) {
    int64_t i = 0;
    for (; i + 32 <= bytes; i += 32)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(o + i), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i)));
    for (; i + 4 <= bytes; i += 4) __builtin_memcpy(o + i, a + i, 4);
    for (; i < bytes; ++i) o[i] = a[i];
  }
}

// Three planes of bytes to pixels of three bytes, as images enter a network; gives the number of pixels done. Whole vectors are
// stored, never beyond the last pixel.
inline int64_t interleave_3(std::uint8_t* to, const std::uint8_t* from, int64_t from_row, int64_t cols) {
  const __m128i drop_fourth = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  const auto load = [&](int64_t row, int64_t c) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + row * from_row + c)); };
  const auto store = [&](int64_t c, __m128i pixels) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * c), _mm_shuffle_epi8(pixels, drop_fourth));
  };
  int64_t c = 0;
  for (; c + 18 <= cols; c += 16) {
    const __m128i r = load(0, c), g = load(1, c), b = load(2, c), zero = _mm_setzero_si128();
    const __m128i rg_low = _mm_unpacklo_epi8(r, g), rg_high = _mm_unpackhi_epi8(r, g);
    const __m128i b_low = _mm_unpacklo_epi8(b, zero), b_high = _mm_unpackhi_epi8(b, zero);
    store(c, _mm_unpacklo_epi16(rg_low, b_low));
    store(c + 4, _mm_unpackhi_epi16(rg_low, b_low));
    store(c + 8, _mm_unpacklo_epi16(rg_high, b_high));
    store(c + 12, _mm_unpackhi_epi16(rg_high, b_high));
  }
  return c;
}

// The same of 16-bit elements, eight pixels at a time: where each result's elements lie in the three planes.
inline int64_t interleave_3(std::uint16_t* to, const std::uint16_t* from, int64_t from_row, int64_t cols) {
  struct Picks {
    alignas(16) std::int8_t byte[3][3][16];  // [vector of the result][plane]
  };
  static constexpr Picks kPicks = [] {
    Picks picks{};
    for (int i = 0; i < 24; ++i)
      for (int plane = 0; plane < 3; ++plane)
        for (int half = 0; half < 2; ++half)
          picks.byte[i / 8][plane][i % 8 * 2 + half] = static_cast<std::int8_t>(i % 3 == plane ? i / 3 * 2 + half : -1);
    return picks;
  }();
  const auto load = [](const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); };
  int64_t c = 0;
  for (; c + 8 <= cols; c += 8) {
    const __m128i plane[3] = {load(from + c), load(from + from_row + c), load(from + 2 * from_row + c)};
    for (int v = 0; v < 3; ++v) {
      __m128i all = _mm_shuffle_epi8(plane[0], load(kPicks.byte[v][0]));
      for (int i = 1; i < 3; ++i) all = _mm_or_si128(all, _mm_shuffle_epi8(plane[i], load(kPicks.byte[v][i])));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * c + 8 * v), all);
    }
  }
  return c;
}

// Fewer than eight columns of eight or more rows of 32-bit elements, in blocks of eight rows; gives the number of rows done.
inline int64_t narrow_columns(float* to, int64_t to_row, const float* from, int64_t from_row, int64_t rows, int64_t cols) {
  int64_t r = 0;
  for (; r + 8 <= rows; r += 8) simd::transpose_8x8(from + r * from_row, from_row, 8, to + r, to_row, static_cast<int>(cols));
  return r;
}
// Fewer than eight rows that become the columns of results without gaps: each whole vector stored writes on into the next results, which
// overwrite that. Gives the number of columns done.
inline int64_t narrow_rows(float* to, const float* from, int64_t from_row, int64_t rows, int64_t cols) {
  int64_t c = 0;
  for (; c + 12 <= cols; c += 8) simd::transpose_8x8(from + c, from_row, static_cast<int>(rows), to + c * rows, rows, 8);
  return c;
}

// Pairs without gaps to two rows; gives the number of pairs done.
inline int64_t split_pairs(float* to, int64_t to_row, const float* from, int64_t pairs) {
  int64_t r = 0;
  for (; r + 8 <= pairs; r += 8) {
    const __m256 a = _mm256_loadu_ps(from + 2 * r), b = _mm256_loadu_ps(from + 2 * r + 8);
    const auto store = [&](float* p, __m256 v) {
      _mm256_storeu_ps(p, _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), _MM_SHUFFLE(3, 1, 2, 0))));
    };
    store(to + r, _mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
    store(to + to_row + r, _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
  }
  return r;
}

template <class T>
void transpose_edge(T* to, int64_t to_row, const T* from, int64_t from_row, int64_t rows, int64_t cols) {
  int64_t done = 0;
  if constexpr (sizeof(T) <= 2)
    if (rows == 3 && to_row == 3) done = interleave_3(to, from, from_row, cols);
  if constexpr (sizeof(T) == 4) {
    auto* const to_f = reinterpret_cast<float*>(to);
    const auto* const from_f = reinterpret_cast<const float*>(from);
    if (cols < 8 && rows >= 8) {
      const int64_t row = narrow_columns(to_f, to_row, from_f, from_row, rows, cols);
      to += row, from += row * from_row, rows -= row;
    } else if (rows < 8 && rows > 1 && rows == to_row) {
      done = narrow_rows(to_f, from_f, from_row, rows, cols);
    }
  }
  for (int64_t c = done; c < cols; ++c)
    for (int64_t r = 0; r < rows; ++r) to[c * to_row + r] = from[r * from_row + c];
}
template <class T>
void transpose(void* out, int64_t to_row, const void* in, int64_t from_row, int64_t rows, int64_t cols) {
  T* to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(in);
  constexpr int64_t kBlock = 8;
  int64_t r = 0;
  if constexpr (sizeof(T) == 4)
    if (cols == 2 && from_row == 2) r = split_pairs(reinterpret_cast<float*>(to), to_row, reinterpret_cast<const float*>(from), rows);
  const auto eight_rows = [&](int64_t r, int64_t c) {   // from column c on
    for (; c + kBlock <= cols; c += kBlock) {
      if constexpr (sizeof(T) == 4) {
        simd::transpose_8x8(reinterpret_cast<const float*>(from + r * from_row + c), from_row,
                            reinterpret_cast<float*>(to + c * to_row + r), to_row);
      } else if constexpr (sizeof(T) == 2) {
        simd::transpose_8x8(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
      } else {
        T block[kBlock * kBlock];
        for (int64_t i = 0; i < kBlock; ++i)
          for (int64_t j = 0; j < kBlock; ++j) block[j * kBlock + i] = from[(r + i) * from_row + c + j];
        for (int64_t j = 0; j < kBlock; ++j) __builtin_memcpy(to + (c + j) * to_row + r, block + j * kBlock, sizeof(T) * kBlock);
      }
    }
    if (c < cols) transpose_edge(to + c * to_row + r, to_row, from + r * from_row + c, from_row, kBlock, cols - c);
  };
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    for (; r + 16 <= rows; r += 16) {
      int64_t c = 0;
      for (; c + 16 <= cols; c += 16)
        simd::transpose_16x16(reinterpret_cast<const float*>(from + r * from_row + c), from_row,
                              reinterpret_cast<float*>(to + c * to_row + r), to_row);
      if (c < cols) eight_rows(r, c), eight_rows(r + 8, c);
    }
#endif
  for (; r + kBlock <= rows; r += kBlock) eight_rows(r, 0);
  if (r < rows) transpose_edge(to + r, to_row, from + r * from_row, from_row, rows - r, cols);
}
template <class T>
void copy_strided(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t count) {
  T* o = static_cast<T*>(to);
  const T* a = static_cast<const T*>(from);
  if (to_stride == 1 && from_stride == 0) {
    const T value = *a;
    for (int64_t i = 0; i < count; ++i) o[i] = value;
  } else if (to_stride == 1) {
    for (int64_t i = 0; i < count; ++i) o[i] = a[i * from_stride];
  } else {
    for (int64_t i = 0; i < count; ++i) o[i * to_stride] = a[i * from_stride];
  }
}

}  // namespace

extern "C" constinit const MoveKernels TENFOLD_TABLE(move) = {
    copy_rows,
    {transpose<std::uint8_t>, transpose<std::uint16_t>, transpose<std::uint32_t>, transpose<std::uint64_t>},
    {copy_strided<std::uint8_t>, copy_strided<std::uint16_t>, copy_strided<std::uint32_t>, copy_strided<std::uint64_t>}};

}  // namespace tenfold::backends::cpu
