// AMX instructions by the numbers of their tile registers as template arguments: GCC's own names paste what they are given into the text of
// the assembly, so that it has to be a literal.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {
namespace {

template <int kTile>
inline void zero_tile() {
  asm volatile("tilezero\t%%tmm%c0" : : "i"(kTile));
}

template <int kTile>
inline void load_tile(const void* from, std::int64_t row_bytes) {
  asm volatile("tileloadd\t(%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_bytes), "i"(kTile));
}

template <int kTile>
inline void store_tile(void* to, std::int64_t row_bytes) {
  asm volatile("tilestored\t%%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(row_bytes), "i"(kTile) : "memory");
}

// kSums += rows times columns, of bf16 or of bytes; columns' bytes are signed.
template <int kSums, int kRows, int kColumns>
inline void multiply_bf16() {
  asm volatile("tdpbf16ps\t%%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kRows), "i"(kColumns));
}

template <bool kSigned, int kSums, int kRows, int kColumns>
inline void multiply_int8() {
  if constexpr (kSigned)
    asm volatile("tdpbssd\t%%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kRows), "i"(kColumns));
  else
    asm volatile("tdpbusd\t%%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kRows), "i"(kColumns));
}

}  // namespace
}  // namespace tenfold::backends::cpu
