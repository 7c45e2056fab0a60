// The rows of a matrix of bf16 or f32 values as rows of A: where they lie, or packed into whole tiles.
#pragma once

#include "backends/cpu/gemm/bf16/gemm_bf16_plan.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_rows.h"
#include "backends/cpu/gemm/matrix_rows.h"

namespace tenfold::backends::cpu {

class Bf16Matrix {
 public:
  using Mode = GemmBf16Plan::A;   // packed or in_place

  // f32, rows that are no whole steps of k, and those that are not at one distance are packed.
  static Mode mode(DType type, std::int64_t k, bool uniform) {
    return type == DType::f32 || k % 32 != 0 || !uniform ? Mode::packed : Mode::in_place;
  }
  // Bytes of memory that blocks of `rows` rows need for copies: of all of them, or of the last tile.
  static std::int64_t copy_bytes(const GemmBf16B& b, Mode mode, std::int64_t rows);

  Bf16Matrix(const void* data, DType type, const MatrixRows& where, Mode mode) noexcept
      : data_(static_cast<const char*>(data)), type_(type), where_(where), mode_(mode) {}
  // Rows [first, first + count), in either mode; `count` is a multiple of 16, or the matrix ends there.
  GemmBf16Rows rows(const GemmBf16B& b, std::int64_t first, std::int64_t count, char* memory) const noexcept;
  // Packed rows in two steps, of which the first may be taken piece by piece: rows lie copied_row() bytes apart.
  void copy(const GemmBf16B& b, std::int64_t first, std::int64_t count, char* memory) const noexcept;
  static GemmBf16Rows copied(const GemmBf16B& b, std::int64_t first, std::int64_t count, const char* memory) noexcept;
  static std::int64_t copied_row(const GemmBf16B& b);

 private:
  GemmBf16Rows in_place(const GemmBf16B& b, std::int64_t first, std::int64_t count, char* memory) const noexcept;
  const char* at(std::int64_t row) const noexcept { return data_ + where_.offset(row) * (type_ == DType::f32 ? 4 : 2); }
  const char* data_;
  DType type_;
  MatrixRows where_;
  Mode mode_;
};

}  // namespace tenfold::backends::cpu
