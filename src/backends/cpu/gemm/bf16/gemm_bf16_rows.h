// Rows of A of a bf16 product as its tiles read them, and the rows of C that they make.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "backends/cpu/gemm/bf16/bf16_epilogue.h"

namespace tenfold::backends::cpu {

// The modes of A. What a mode has besides the rows stands in its struct alone.
// Rows were copied into whole tiles, in terms where there are several.
struct GemmBf16Packed {};
// Rows are read where the caller has them, perhaps in no cache near: the product asks for those that follow.
struct GemmBf16InPlace {
  // The last tile of rows, fewer than 16, if memory ends with them: a copy. Null: what lies behind them may be read.
  const char* last = nullptr;
  std::int64_t last_row_bytes = 0;
};
// Windows of neighboring positions overlap in a copy of some lines of some planes of an image. Planes are treated alike.
struct GemmBf16Windows {
  // Not 0: rows are results alone, in whole tiles of a line of `line_rows`, and lines are that far apart. 0: rows go on from line to line,
  // and some between lines have no meaning.
  std::int64_t line_bytes = 0, line_rows = 0;
  std::int64_t planes = 1, plane_bytes = 0;
  // What the caller reads next: `count` stretches of memory, for which the product asks.
  struct Next {
    const char* at = nullptr;
    std::int64_t count = 0, bytes = 0, stride = 0;
  } next;
};

struct GemmBf16A {
  static constexpr std::int64_t kTile = 16;   // rows of a tile

  const char* first = nullptr;
  std::int64_t row_bytes = 0, count = 0;   // from one row to the next; rows of a plane
  std::int64_t term_bytes = 0;             // from rows to their next lower term, where there are several
  const std::int64_t* taps = nullptr;      // where each begins, in bytes from the row
  std::variant<GemmBf16Packed, GemmBf16InPlace, GemmBf16Windows> mode;   // in the order of GemmBf16Plan::A

  std::int64_t planes() const noexcept {
    const auto* const windows = std::get_if<GemmBf16Windows>(&mode);
    return windows ? windows->planes : 1;
  }

  // Windows: what the caller reads next.
  void prefetch(const GemmBf16Windows::Next& next) noexcept {
    if (auto* const windows = std::get_if<GemmBf16Windows>(&mode)) windows->next = next;
  }

  struct Tile {
    const char* first = nullptr;
    std::int64_t row_bytes = 0;
  };
  // 16 rows from `row` on; what the last tile holds beyond the rows may be anything.
  Tile tile(std::int64_t plane, std::int64_t row) const noexcept {
    if (const auto* const windows = std::get_if<GemmBf16Windows>(&mode)) {
      const std::int64_t line = windows->line_bytes == 0 ? 0 : row / windows->line_rows;
      return {first + plane * windows->plane_bytes + line * windows->line_bytes + (row - line * windows->line_rows) * row_bytes, row_bytes};
    }
    if (const auto* const in_place = std::get_if<GemmBf16InPlace>(&mode); in_place && in_place->last && row + kTile > count)
      return {in_place->last, in_place->last_row_bytes};
    return {first + row * row_bytes, row_bytes};
  }
};

// Of every `pitch` rows of A the first `line` are results: rows of C from `first` on, `step` apart, and `line_step` from one line to the
// next, `plane_step` from one plane to the next.
struct GemmBf16C {
  std::int64_t first = 0, line = 0, pitch = 0, line_step = 0, step = 1, plane_step = 0;

  // f(rows of C, index of the first one) for the results among rows [row, last) of A, line by line.
  template <class F>
  void for_each_line(std::int64_t plane, std::int64_t row, std::int64_t last, F&& f) const noexcept {
    for (std::int64_t r = row; r < last;) {
      const std::int64_t y = r / pitch, x = r - y * pitch;
      if (x >= line) {
        r = (y + 1) * pitch;
        continue;
      }
      const std::int64_t n = std::min(line - x, last - r);
      f(Bf16Epilogue::Rows{first + plane * plane_step + y * line_step + x * step, n, step}, r - row);
      r += n;
    }
  }
};

struct GemmBf16Rows {
  GemmBf16A a;
  GemmBf16C c;
};

}  // namespace tenfold::backends::cpu
