// The loops of a bf16 product over tiles of 32 x 32.
#include "backends/cpu/gemm/gemm_bf16.h"

#include <cstring>

#include "base/half.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kTile = 16, kPair = GemmBf16Kernels::kRows;

// Copied rows are an odd number of cache lines long, so that they spread over the cache.
std::int64_t copied_row(const GemmBf16Weights& w) { return (w.depth() + 32) * 2; }

}  // namespace

std::int64_t Bf16Matrix::copy_bytes(const GemmBf16Weights& w, bool copies, std::int64_t rows) {
  return copied_row(w) * (copies ? round_up(rows, kTile) : kTile);
}

void Bf16Matrix::copy(const GemmBf16Weights& w, std::int64_t first, std::int64_t count, char* memory) const noexcept {
  for (std::int64_t r = 0; r < count; ++r)
    lay_bf16_row(gemm_bf16_kernels(), at(first + r), type_, w.k, w.depth(),
                 reinterpret_cast<std::uint16_t*>(memory + r * copied_row(w)));
}

GemmBf16Rows Bf16Matrix::rows(const GemmBf16Weights& w, std::int64_t first, std::int64_t count, char* memory) const noexcept {
  static constexpr std::int64_t kOneTap[1] = {0};
  GemmBf16Rows rows{.count = count, .line = count, .pitch = count, .first_out = first, .line_out = count, .taps = kOneTap};
  if (copies_) {
    copy(w, first, count, memory);
    rows.a = memory, rows.row_bytes = copied_row(w);
    return rows;
  }
  rows.a = at(first), rows.row_bytes = where_.stride() * 2;
  if (const std::int64_t rest = count % kTile; rest != 0) {
    copy(w, first + count - rest, rest, memory);
    rows.last = memory, rows.last_bytes = copied_row(w);
  }
  return rows;
}

Verdict bf16_product(const Problem& p) {
  const DType a = p.in[0].dtype, b = p.in[1].dtype;
  if (a != DType::f32 && a != DType::bf16) return Verdict::no("the left operand is neither f32 nor bf16");
  if (b != DType::f32 && b != DType::bf16) return Verdict::no("the right operand is neither f32 nor bf16");
  if ((a == DType::f32 || b == DType::f32) && p.attributes->string("precision", "") != "bf16")
    return Verdict::no("bf16 is not permitted here");
  return Verdict::only_if((p.device->features & kAmxBf16) != 0, "this machine has no AMX");
}

std::uint16_t round_to_bf16(float value) { return float_to_bf16(value); }

void lay_bf16_row(const GemmBf16Kernels& kernels, const void* from, DType type, std::int64_t count, std::int64_t padded,
                  std::uint16_t* to) noexcept {
  if (type == DType::f32)
    kernels.convert(static_cast<const float*>(from), count, to);
  else
    std::memcpy(to, from, static_cast<std::size_t>(count) * 2);
  if (padded > count) std::memset(to + count, 0, static_cast<std::size_t>(padded - count) * 2);
}

namespace {

// Where the two tiles of 32 rows from `row` on begin.
void place(const GemmBf16Rows& rows, std::int64_t row, GemmBf16Tile& t) noexcept {
  for (int i = 0; i < 2; ++i, row += kTile) {
    const bool copied = rows.last != nullptr && row + kTile > rows.count;
    t.a[i] = row >= rows.count ? nullptr : copied ? rows.last : rows.a + row * rows.row_bytes;
    t.row_bytes[i] = copied ? rows.last_bytes : rows.row_bytes;
  }
}

// Hands the results among 32 rows over, line by line.
void finish(const GemmBf16Rows& rows, std::int64_t row, std::int64_t col, std::int64_t cols, const Bf16End& end,
            const Bf16End::Binding& bound, float (*sums)[GemmBf16Kernels::kColumns], void* scratch) noexcept {
  const std::int64_t last = std::min(row + kPair, rows.count);
  for (std::int64_t r = row; r < last;) {
    const std::int64_t y = r / rows.pitch, x = r - y * rows.pitch;
    if (x >= rows.line) {
      r = (y + 1) * rows.pitch;
      continue;
    }
    const std::int64_t count = std::min(rows.line - x, last - r);
    end.apply(gemm_bf16_kernels(), bound, {rows.first_out + y * rows.line_out + x * rows.step_out, count, rows.step_out}, col, cols,
              sums + (r - row), scratch);
    r += count;
  }
}

}  // namespace

void gemm_bf16(const GemmBf16Weights& w, const void* packed, const GemmBf16Rows& rows, std::int64_t first_panel, std::int64_t last_panel,
               bool panels_inside, const Bf16End& end, const Bf16End::Binding& bound, void* scratch) noexcept {
  const GemmBf16Kernels& kernels = gemm_bf16_kernels();
  alignas(64) float sums[kPair][GemmBf16Kernels::kColumns];
  GemmBf16Tile t;
  t.taps = rows.taps;
  t.tap_count = w.taps;
  t.steps = w.steps();
  const auto tile = [&](std::int64_t row, std::int64_t panel) {
    place(rows, row, t);
    t.panel = static_cast<const std::uint16_t*>(packed) + panel * 32 * w.depth();
    kernels.multiply(t, sums);
    finish(rows, row, panel * 32, std::min<std::int64_t>(32, w.n - panel * 32), end, bound, sums, scratch);
  };
  kernels.enter();
  if (panels_inside) {
    for (std::int64_t row = 0; row < rows.count; row += kPair)
      for (std::int64_t panel = first_panel; panel < last_panel; ++panel) tile(row, panel);
  } else {
    for (std::int64_t panel = first_panel; panel < last_panel; ++panel)
      for (std::int64_t row = 0; row < rows.count; row += kPair) tile(row, panel);
  }
  kernels.leave();
}

}  // namespace tenfold::backends::cpu
