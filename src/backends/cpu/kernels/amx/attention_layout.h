// Fused attention with AMX: sizes of blocks, and where a call keeps what it works on.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;
using std::uint16_t;

constexpr int64_t kKeys = 256;   // of a block
constexpr int64_t kRows = 256;   // of a call
constexpr int64_t kGroup = 32;   // rows whose scores are kept at once: two tiles
constexpr float kLog2e = 1.44269504f, kLowest = -__builtin_inff(), kLowestMask = -2.3e38f;  // the latter times log2(e) is finite

inline int64_t up_to(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Panels of B have 32 columns: [steps of 32 along the sum][term][two tiles of columns][16 pairs][16 columns][2]. Rows of A:
// [steps][term][32 values].
constexpr int64_t kStep = 1024, kTile = 512;   // of one term

struct Scratch {
  uint16_t *query, *keys, *values;
  float *scores, *sums, *bias, *lanes, *top, *total;
  int64_t depth, width;  // of a head and of its values, in whole tiles
  int64_t score_row;     // floats; odd in cache lines, so that rows spread over the cache
};
// Places all in `memory`, unless that is null; gives the bytes.
inline int64_t lay_out(int64_t size, int64_t value_size, int64_t terms, char* memory, Scratch& s) {
  s.depth = up_to(size, 32), s.width = up_to(value_size, 32), s.score_row = kKeys + 16;
  int64_t at = 0;
  const auto take = [&](auto*& place, int64_t count) {
    if (memory) place = reinterpret_cast<decltype(+place)>(memory + at);
    at += up_to(count * static_cast<int64_t>(sizeof *place), 64);
  };
  take(s.scores, kGroup * s.score_row);
  take(s.bias, kKeys);
  take(s.lanes, kGroup * 16);
  take(s.top, kRows);
  take(s.total, kRows);
  take(s.query, kRows * s.depth * terms);
  take(s.keys, kKeys * s.depth * terms);
  take(s.values, kKeys * s.width * terms);
  take(s.sums, kRows * s.width);
  return at;
}
template <int kTerms>
int64_t scratch_bytes(int64_t size, int64_t value_size) {
  Scratch s{};
  return lay_out(size, value_size, kTerms, nullptr, s);
}

inline __mmask16 lanes(int64_t n) { return static_cast<__mmask16>(n >= 16 ? 0xffff : n <= 0 ? 0 : (1u << n) - 1); }

}  // namespace
}  // namespace tenfold::backends::cpu
