// The blocked bf16 product around the AMX kernel: packed weights, rows where they lie or copied, and the loops over tiles.
#pragma once

#include <bit>
#include <cstring>

#include "backends/cpu/gemm/bf16_epilogue.h"
#include "backends/cpu/gemm/matrix_rows.h"
#include "backends/cpu/kernels/product/gemm_bf16.h"
#include "backends/cpu/kernels/product/gemm_bf16_strips.h"
#include "backends/tactic.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

// The kernels, which are AMX's. Tests put portable ones in their place (gemm_bf16_for_tests.h).
struct GemmBf16Tables {
  const GemmBf16Kernels* tiles = &tenfold_gemm_bf16_amx;
  const GemmBf16Strips* strips = &tenfold_gemm_bf16_strips_amx;
};
inline constinit GemmBf16Tables gemm_bf16_tables;
inline const GemmBf16Kernels& gemm_bf16_kernels() { return *gemm_bf16_tables.tiles; }

// Whether a product may compute in bf16 on this machine: its operands are bf16, or f32 where the precision stage permits to round them.
Verdict bf16_product(const Problem& problem);
// Whether it may compute in two terms of bf16 for each f32: both operands are f32, and nothing permits to round them.
Verdict split_product(const Problem& problem);

// B of (taps * k) x n, as the kernel reads it.
struct GemmBf16Weights {
  std::int64_t taps = 1, k = 0, n = 0;
  DType type = DType::bf16;
  int terms = 1;   // of an f32: two have 16 of its 24 bits, three have all
  bool whole() const { return terms == 3; }   // kept as f32, a product splits them
  std::int64_t steps() const { return ceil_div(k, 32); }   // of a tap
  std::int64_t depth() const { return taps * steps() * 32; }
  std::int64_t panels() const { return ceil_div(n, 32); }
  std::int64_t panel() const { return 32 * depth() * terms; }   // values
  std::int64_t values() const { return panels() * panel(); }
  std::int64_t panel_bytes() const { return whole() ? 32 * depth() * 4 : panel() * 2; }   // where they are kept
  // Of a value's first term.
  std::int64_t slot(std::int64_t tap, std::int64_t i, std::int64_t column) const {
    const std::int64_t step = tap * steps() + i / 32, stored = whole() ? 1 : terms;
    return column / 32 * 32 * depth() * stored + step * kTerm * stored + column % 32 / 16 * 512 + i % 32 / 2 * 32 + column % 16 * 2 + i % 2;
  }
  static constexpr std::int64_t kTerm = 1024;   // from one term of a value to the next
  std::int64_t bytes() const { return panels() * panel_bytes() + (whole() ? 64 : 0); }
  // Behind weights that are kept whole: whether all are finite. Such are split without a look at each.
  char* finite(void* packed) const { return whole() ? static_cast<char*>(packed) + panels() * panel_bytes() : nullptr; }
  // Values of a panel that a product reads: steps of terms go in pairs.
  std::int64_t split_panel() const { return whole() ? round_up(taps * steps(), 2) * 32 * 32 * terms : panel(); }
};
// Rows of A at one distance, in segments (images, planes) that are treated alike. Of every `pitch` rows the first `line` are results: rows
// of C from `first_out` on, `step_out` apart, and `line_out` from one line to the next.
struct GemmBf16Rows {
  static constexpr std::int64_t kColumns = 512;   // that they are multiplied with before the next ones' turn
  const char* a = nullptr;
  std::int64_t row_bytes = 0, count = 0;
  bool far = false;   // they lie where the caller has them, perhaps in no cache near
  // The last tile of rows, fewer than 16, if memory ends with them: a copy. Null: what lies behind them may be read.
  const char* last = nullptr;
  std::int64_t last_bytes = 0;   // from one of its rows to the next
  std::int64_t low = 0;          // bytes from rows to their next lower term, where weights have several
  std::int64_t line = 0, pitch = 0, first_out = 0, line_out = 0, step_out = 1;
  std::int64_t line_bytes = 0;   // not 0: rows are results alone, in whole tiles of a line, and lines are that far apart
  std::int64_t segments = 1, segment_bytes = 0, segment_out = 0;   // and how far apart they are, in A and in rows of C
  const std::int64_t* taps = nullptr;   // in bytes
  // What the caller reads next: `count` stretches of memory, to be fetched meanwhile.
  struct Soon {
    const char* at = nullptr;
    std::int64_t count = 0, bytes = 0, stride = 0;
  } soon;
};
// In how many pieces k is taken, one after the other, so that `rows` rows of one tap stay in the second cache while panels pass by.
std::int64_t gemm_bf16_k_pieces(const GemmBf16Weights& w, std::int64_t rows);
// Bytes of scratch for blocks of `cols` columns; k in pieces: of `rows` rows, whose sums all wait.
std::int64_t gemm_bf16_scratch(const Bf16Epilogue& epilogue, std::int64_t cols, std::int64_t k_pieces = 1, std::int64_t rows = 0);
// ... and, before that, for weights that are kept whole.
std::int64_t gemm_bf16_split_bytes(const GemmBf16Weights& w, std::int64_t cols, bool panels_inside);
// All of `rows` times panels [first_panel, last_panel). `panels_inside`: panels go round while 32 rows wait in cache; else all rows
// pass by each panel, and k may come in pieces. The result is the same.
void gemm_bf16(const GemmBf16Weights& w, const void* packed, const GemmBf16Rows& rows, std::int64_t first_panel, std::int64_t last_panel,
               bool panels_inside, const Bf16Epilogue& epilogue, const Bf16Epilogue::Binding& bound, char* scratch,
               std::int64_t k_pieces = 1) noexcept;

// The rows of a matrix of bf16 or f32 values.
class Bf16Matrix {
 public:
  // Whether rows are copied before they are multiplied: f32, no whole steps of k, or not at one distance.
  static bool copies(DType type, std::int64_t k, bool uniform) { return type == DType::f32 || k % 32 != 0 || !uniform; }
  // Bytes of memory that blocks of `rows` rows need for copies, of all their rows or of the last tile.
  static std::int64_t copy_bytes(const GemmBf16Weights& w, bool copies, std::int64_t rows);

  Bf16Matrix(const void* data, DType type, const MatrixRows& where, bool copies) noexcept
      : data_(static_cast<const char*>(data)), type_(type), where_(where), copies_(copies) {}
  // Rows [first, first + count); `count` is a multiple of 16, or the matrix ends there.
  GemmBf16Rows rows(const GemmBf16Weights& w, std::int64_t first, std::int64_t count, char* memory) const noexcept;
  // The same in two steps, of which the first may be taken piece by piece: rows lie copied_row() bytes apart.
  void copy(const GemmBf16Weights& w, std::int64_t first, std::int64_t count, char* memory) const noexcept;
  static GemmBf16Rows copied(const GemmBf16Weights& w, std::int64_t first, std::int64_t count, const char* memory) noexcept;
  static std::int64_t copied_row(const GemmBf16Weights& w);

 private:
  const char* at(std::int64_t row) const noexcept { return data_ + where_.offset(row) * (type_ == DType::f32 ? 4 : 2); }
  const char* data_;
  DType type_;
  MatrixRows where_;
  bool copies_;
};

}  // namespace tenfold::backends::cpu
