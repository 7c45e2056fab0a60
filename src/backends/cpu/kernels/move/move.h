// Moves of elements without arithmetic: rows, small transposes.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct MoveKernels {
  // `rows` rows of `bytes` bytes each; row strides in bytes.
  void (*copy_rows)(void* to, std::int64_t to_row, const void* from, std::int64_t from_row, std::int64_t rows, std::int64_t bytes);
  // to[c * to_row + r] = from[r * from_row + c]; by log2 of the element's bytes; strides in elements.
  void (*transpose[4])(void* to, std::int64_t to_row, const void* from, std::int64_t from_row, std::int64_t rows, std::int64_t cols);
  // to[i * to_stride] = from[i * from_stride], by log2 of the element's bytes.
  void (*copy_strided[4])(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride, std::int64_t count);
};

extern "C" {
extern const MoveKernels tenfold_move_avx2, tenfold_move_avx512;
}

}  // namespace tenfold::backends::cpu
