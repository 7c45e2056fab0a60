// Rows of matrices for bf16 products.
#include "backends/cpu/gemm/bf16/bf16_matrix.h"

#include "backends/cpu/gemm/bf16/gemm_bf16_kernels.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kTile = GemmBf16A::kTile;

std::int64_t copied_term(const GemmBf16B& b) { return b.depth() * 2; }

// Rows of one tap, and as many rows of C.
GemmBf16Rows plain_rows(const char* at, std::int64_t row_bytes, std::int64_t first, std::int64_t count) {
  static constexpr std::int64_t kOneTap[1] = {0};
  return {{.first = at, .row_bytes = row_bytes, .count = count, .taps = kOneTap},
          {.first = first, .line = count, .pitch = count, .line_step = count}};
}

}  // namespace

// High terms before low ones; an odd number of cache lines, so that rows spread over the cache.
std::int64_t Bf16Matrix::copied_row(const GemmBf16B& b) { return (b.depth() * b.terms / 32 | 1) * 64; }

std::int64_t Bf16Matrix::copy_bytes(const GemmBf16B& b, Mode mode, std::int64_t rows) {
  return copied_row(b) * (mode == Mode::packed ? round_up(rows, kTile) : kTile);
}

void Bf16Matrix::copy(const GemmBf16B& b, std::int64_t first, std::int64_t count, char* memory) const noexcept {
  const bool wide = type_ == DType::f32;
  Bf16Copy c{.from_bytes = where_.stride() * (wide ? 4 : 2), .wide = wide, .rows = count, .count = b.k, .padded = b.depth()};
  c.to_bytes = copied_row(b), c.terms = b.terms, c.low = copied_term(b);
  if (!where_.uniform()) c.rows = 1;
  for (std::int64_t r = 0; r < count; r += c.rows) {
    c.from = at(first + r);
    c.to = memory + r * copied_row(b);
    gemm_bf16_kernels().copy(c);
  }
}

GemmBf16Rows Bf16Matrix::copied(const GemmBf16B& b, std::int64_t first, std::int64_t count, const char* memory) noexcept {
  GemmBf16Rows rows = plain_rows(memory, copied_row(b), first, count);
  rows.a.term_bytes = copied_term(b);
  rows.a.mode = GemmBf16Packed{};
  return rows;
}

GemmBf16Rows Bf16Matrix::in_place(const GemmBf16B& b, std::int64_t first, std::int64_t count, char* memory) const noexcept {
  GemmBf16Rows rows = plain_rows(at(first), where_.stride() * 2, first, count);
  GemmBf16InPlace& in_place = rows.a.mode.emplace<GemmBf16InPlace>();
  if (const std::int64_t rest = count % kTile; rest != 0) {
    copy(b, first + count - rest, rest, memory);
    in_place = {.last = memory, .last_row_bytes = copied_row(b)};
  }
  return rows;
}

GemmBf16Rows Bf16Matrix::rows(const GemmBf16B& b, std::int64_t first, std::int64_t count, char* memory) const noexcept {
  if (mode_ == Mode::in_place) return in_place(b, first, count, memory);
  copy(b, first, count, memory);
  return copied(b, first, count, memory);
}

}  // namespace tenfold::backends::cpu
