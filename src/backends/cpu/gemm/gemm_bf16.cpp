// The loops of a bf16 product over tiles of 32 x 32.
#include "backends/cpu/gemm/gemm_bf16.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "backends/cpu/gemm/gemm_bf16_lines.h"
#include "backends/cpu/gemm/gemm_bf16_strips.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kTile = 16, kPair = GemmBf16Kernels::kRows;
constexpr std::int64_t kMostColumns = GemmBf16Rows::kColumns;   // of sums that wait for their epilogue

std::int64_t copied_low(const GemmBf16Weights& w) { return w.depth() * 2; }

GemmBf16Rows plain_rows(std::int64_t first, std::int64_t count) {
  static constexpr std::int64_t kOneTap[1] = {0};
  return {.count = count, .line = count, .pitch = count, .first_out = first, .line_out = count, .taps = kOneTap};
}

}  // namespace

// High terms before low ones; an odd number of cache lines, so that rows spread over the cache.
std::int64_t Bf16Matrix::copied_row(const GemmBf16Weights& w) { return (w.depth() * w.terms / 32 | 1) * 64; }

std::int64_t Bf16Matrix::copy_bytes(const GemmBf16Weights& w, bool copies, std::int64_t rows) {
  return copied_row(w) * (copies ? round_up(rows, kTile) : kTile);
}

void Bf16Matrix::copy(const GemmBf16Weights& w, std::int64_t first, std::int64_t count, char* memory) const noexcept {
  const bool wide = type_ == DType::f32;
  Bf16Copy c{.from_bytes = where_.stride() * (wide ? 4 : 2), .wide = wide, .rows = count, .count = w.k, .padded = w.depth()};
  c.to_bytes = copied_row(w), c.terms = w.terms, c.low = copied_low(w);
  if (!where_.uniform()) c.rows = 1;
  for (std::int64_t r = 0; r < count; r += c.rows) {
    c.from = at(first + r);
    c.to = memory + r * copied_row(w);
    gemm_bf16_kernels().copy(c);
  }
}

GemmBf16Rows Bf16Matrix::copied(const GemmBf16Weights& w, std::int64_t first, std::int64_t count, const char* memory) noexcept {
  GemmBf16Rows rows = plain_rows(first, count);
  rows.a = memory, rows.row_bytes = copied_row(w), rows.low = copied_low(w);
  return rows;
}

GemmBf16Rows Bf16Matrix::rows(const GemmBf16Weights& w, std::int64_t first, std::int64_t count, char* memory) const noexcept {
  if (copies_) {
    copy(w, first, count, memory);
    return copied(w, first, count, memory);
  }
  GemmBf16Rows rows = plain_rows(first, count);
  rows.a = at(first), rows.row_bytes = where_.stride() * 2, rows.far = true;
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
  if ((a == DType::f32 || b == DType::f32) && !p.numerics.allows(ir::Rounding::bf16))
    return Verdict::no("bf16 is not permitted here");
  return Verdict::only_if((p.device->features & kAmxBf16) != 0, "this machine has no AMX");
}

Verdict split_product(const Problem& p) {
  if (p.in[0].dtype != DType::f32 || p.in[1].dtype != DType::f32) return Verdict::no("operands are not f32");
  if (bf16_terms(p) != 2) return Verdict::no("operands may be rounded to bf16");
  return Verdict::only_if((p.device->features & kAmxBf16) != 0, "this machine has no AMX");
}

namespace {

// The product of some panels with all rows, 32 rows at a time.
class Product {
 public:
  struct Piece { std::int64_t number, count; };   // of k

  Product(const GemmBf16Weights& w, const void* packed, const GemmBf16Rows& rows, const Bf16Epilogue& epilogue,
          const Bf16Epilogue::Binding& bound, std::int64_t last_panel, float* sums, void* scratch) noexcept
      : w_(w),
        packed_(static_cast<const char*>(packed)),
        rows_(rows),
        epilogue_(epilogue),
        bound_(bound),
        last_panel_(last_panel),
        sums_(sums),
        scratch_(scratch) {
    tile_.taps = rows.taps;
    tile_.tap_count = w.taps;
    tile_.steps = w.steps();
    tile_.terms = w.terms, tile_.low = rows.low;
    tile_.finite = w.whole() && packed_[w.panels() * w.panel_bytes()] != 0;
    groups_ = ceil_div(rows.count, kPair);
    count_steps();
    before_.epilogue = &bound.epilogue;
  }

  // Where panels from `first` on lie.
  void use(std::int64_t first, const void* panels) noexcept { first_panel_ = first, panels_ = static_cast<const std::uint16_t*>(panels); }
  // Rows [row, row + 32) of a segment times one panel: a piece of k.
  void run_piece(std::int64_t row, std::int64_t panel, std::int64_t first_panel, const Piece& piece) noexcept {
    const std::int64_t first = piece.number * w_.steps() / piece.count, pairs = ceil_div(rows_.count, kPair);
    tile_.steps = (piece.number + 1) * w_.steps() / piece.count - first;
    tile_.add = piece.number > 0;
    waiting_ = sums_ + ((panel - first_panel) * pairs + row / kPair) * kPair * 32;
    place(0, row);
    for (const char*& a : tile_.a)
      if (a) a += first * 64;
    offset_ = first * GemmBf16Weights::kTerm;
    splits_ = w_.whole() && row == 0;
    count_steps();
    plan_ahead(0, row, panel, panel + 1);
    if (piece.number + 1 < piece.count) {
      look_ahead(panel, panel);
      place_panel(panel);
      kernels_.multiply(tile_, waiting_, 32);
    } else {
      epilogue_.simple() ? run_with_epilogue(0, row, panel, panel + 1) : run_then_epilogue(0, row, panel, panel + 1);
    }
  }
  // Rows [row, row + 32) of a segment times panels [first, last).
  void run(std::int64_t segment, std::int64_t row, std::int64_t first, std::int64_t last) noexcept {
    place(segment, row);
    splits_ = w_.whole() && segment == 0 && row == 0;
    plan_ahead(segment, row, first, last);
    if (epilogue_.simple())
      run_with_epilogue(segment, row, first, last);
    else
      run_then_epilogue(segment, row, first, last);
  }
  void last_epilogue() noexcept {
    if (epilogue_.simple()) kernels_.epilogue(before_);
  }

 private:
  // A simple epilogue comes with the product of the next panel or rows.
  void run_with_epilogue(std::int64_t segment, std::int64_t row, std::int64_t first, std::int64_t last) noexcept {
    GemmBf16Waiting own{.epilogue = &bound_.epilogue, .rows = epilogue_rows_[turn_]};
    for_each_line(rows_, segment, row, kPair, [&](const Bf16Epilogue::Rows& c, std::int64_t at) {
      epilogue_.place(bound_, c, at * GemmBf16Kernels::kColumns, epilogue_rows_[turn_] + own.count);
      own.count += c.count;
    });
    turn_ ^= 1;   // those before still wait with the other table
    for (std::int64_t panel = first; panel < last; ++panel) {
      own.column = panel * 32;
      own.columns = std::min<std::int64_t>(32, w_.n - own.column);
      own.sums = waiting_ ? waiting_ : before_.sums == sums_ ? sums_ + kPair * 32 : sums_;
      look_ahead(first, panel);
      place_panel(panel);
      kernels_.multiply_with_epilogue(tile_, own, before_);
      before_ = own;
    }
  }
  void run_then_epilogue(std::int64_t segment, std::int64_t row, std::int64_t first, std::int64_t last) noexcept {
    const std::int64_t stride = (last - first) * 32, cols = std::min(stride, w_.n - first * 32);
    float* const sums = waiting_ ? waiting_ : sums_;
    for (std::int64_t panel = first; panel < last; ++panel) {
      look_ahead(first, panel);
      place_panel(panel);
      kernels_.multiply(tile_, sums + (panel - first) * 32, stride);
    }
    for_each_line(rows_, segment, row, kPair, [&](const Bf16Epilogue::Rows& c, std::int64_t at) {
      epilogue_.apply(kernels_, bound_, c, first * 32, cols, sums + at * stride, stride, scratch_);
    });
  }
  void count_steps() noexcept {
    steps_ = std::max<std::int64_t>(w_.taps * tile_.steps, 1);
    tile_.epilogues_each = ceil_div(kPair, steps_);
  }
  // What 32 rows ask for, all that takes a division: of the rows that follow a share for each panel, or a share of what the caller reads
  // next; and the panel that follows, which its first rows find in no cache near. One panel after the other: all rows share that.
  void plan_ahead(std::int64_t segment, std::int64_t row, std::int64_t first, std::int64_t last) noexcept {
    const std::int64_t panels = last - first, group = segment * groups_ + row / kPair, groups = panels > 1 ? 1 : groups_ * rows_.segments;
    soon_ = {.at = tile_.a[0]};
    slice_ = kPair * rows_.row_bytes / panels;
    if (rows_.far && row + 2 * kPair <= rows_.count)
      soon_ = ahead(tile_.a[0] + kPair * rows_.row_bytes, slice_);
    else if (rows_.soon.count > 0 && first == 0)
      soon_ = share_of_soon(group);
    panel_share_ = {.at = packed_};
    constexpr std::int64_t kManyRows = 5 * kPair;   // of two terms: fewer wait longer for lines asked for than for those needed
    if (group >= groups || w_.whole() || (w_.terms == 2 && rows_.count <= kManyRows)) return;
    const std::int64_t bytes = waiting_ ? tile_.steps * GemmBf16Weights::kTerm * w_.terms * 2 : w_.panel_bytes();
    const std::int64_t from = bytes * group / groups / 64 * 64;
    panel_share_ = ahead(packed_ + offset_ * w_.terms * 2 + from, bytes * (group + 1) / groups / 64 * 64 - from);
  }
  void look_ahead(std::int64_t first, std::int64_t panel) noexcept {
    tile_.rows_ahead = rows_.far || panel == first ? soon_ : GemmBf16Ahead{};
    soon_.at += slice_;
    tile_.panel_ahead = {};
    if (panel + 1 < last_panel_)
      tile_.panel_ahead = {panel_share_.at + (panel + 1) * w_.panel_bytes(), panel_share_.lines, panel_share_.each};
  }
  GemmBf16Ahead ahead(const char* at, std::int64_t bytes) const noexcept { return {at, bytes / 64, ceil_div(bytes / 64, steps_)}; }
  // Every 32 rows ask for an equal share of the stretches, to the end of one at most.
  GemmBf16Ahead share_of_soon(std::int64_t group) const noexcept {
    const GemmBf16Rows::Soon& soon = rows_.soon;
    const std::int64_t all = groups_ * rows_.segments, bytes = soon.count * soon.bytes, at = bytes * group / all / 64 * 64;
    const std::int64_t end = bytes * (group + 1) / all / 64 * 64, offset = at % soon.bytes;
    return ahead(soon.at + at / soon.bytes * soon.stride + offset, std::min(end - at, soon.bytes - offset));
  }
  void place_panel(std::int64_t panel) noexcept {
    const bool passing = splits_ && groups_ * rows_.segments == 1;   // no other rows meet what is split: it need not be kept
    tile_.panel = panels_ + (passing ? 0 : (panel - first_panel_) * w_.split_panel() + (w_.whole() ? 0 : offset_ * w_.terms));
    tile_.whole = splits_ ? reinterpret_cast<const float*>(packed_ + panel * w_.panel_bytes()) + offset_ : nullptr;
    tile_.ring = passing;
  }
  // Where the two tiles of 32 rows from `row` on begin.
  void place(std::int64_t segment, std::int64_t row) noexcept {
    for (int i = 0; i < 2; ++i, row += kTile) {
      const RowsOfTile at = rows_of_tile(rows_, segment, row, kTile);
      tile_.a[i] = row >= rows_.count ? nullptr : at.first;
      tile_.row_bytes[i] = at.bytes;
    }
  }

  const GemmBf16Kernels& kernels_ = gemm_bf16_kernels();
  const GemmBf16Weights& w_;
  const char* packed_;
  const GemmBf16Rows& rows_;
  const Bf16Epilogue& epilogue_;
  const Bf16Epilogue::Binding& bound_;
  std::int64_t last_panel_;
  float *sums_, *waiting_ = nullptr;   // those of a whole product; k in pieces: those at work
  std::int64_t offset_ = 0;            // of the piece, in one term of a panel
  void* scratch_;
  GemmBf16Tile tile_;
  GemmBf16Ahead soon_, panel_share_;
  std::int64_t slice_ = 0, steps_ = 1, groups_ = 1;
  GemmBf16Waiting::Row epilogue_rows_[2][kPair];
  GemmBf16Waiting before_;
  int turn_ = 0;
  std::int64_t first_panel_ = 0;
  const std::uint16_t* panels_ = nullptr;
  bool splits_ = false;   // weights for the rows behind as well
};

}  // namespace

std::int64_t gemm_bf16_k_pieces(const GemmBf16Weights& w, std::int64_t rows) {
  constexpr std::int64_t kMost = 5 << 18, kPiece = 1 << 20;   // bytes of rows
  const std::int64_t bytes = rows * w.depth() * 2 * w.terms;
  return w.taps > 1 || bytes <= kMost ? 1 : std::min(ceil_div(bytes, kPiece), w.steps());
}

std::int64_t gemm_bf16_scratch(const Bf16Epilogue& epilogue, std::int64_t cols, std::int64_t k_pieces, std::int64_t rows) {
  if (k_pieces > 1) return round_up(cols, 32) * round_up(rows, kPair) * 4 + round_up(epilogue.scratch_bytes(), 64);
  const std::int64_t waiting = epilogue.simple() ? 2 * 32 : std::min(round_up(cols, 32), kMostColumns);   // two blocks take turns
  return std::max<std::int64_t>(waiting * kPair, GemmBf16StripState::kSums) * 4 + round_up(epilogue.scratch_bytes(), 64);
}

namespace {

std::int64_t panels_at_once(bool panels_inside) { return panels_inside ? kMostColumns / 32 : 1; }

}  // namespace

std::int64_t gemm_bf16_split_bytes(const GemmBf16Weights& w, std::int64_t cols, bool panels_inside) {
  if (!w.whole()) return 0;
  return std::min(ceil_div(cols, 32), panels_at_once(panels_inside)) * w.split_panel() * 2;
}

// Weights that are kept whole are split by the first rows for all, some panels at a time.
void gemm_bf16(const GemmBf16Weights& w, const void* packed, const GemmBf16Rows& rows, std::int64_t first_panel, std::int64_t last_panel,
               bool panels_inside, const Bf16Epilogue& epilogue, const Bf16Epilogue::Binding& bound, char* scratch,
               std::int64_t k_pieces) noexcept {
  const std::int64_t epilogue_bytes = round_up(epilogue.scratch_bytes(), 64), at_once = panels_at_once(panels_inside);
  if (k_pieces == 1 && takes_strips(w, first_panel, last_panel, epilogue))
    return gemm_bf16_strips(w, packed, rows, first_panel, last_panel, panels_inside, epilogue, bound, reinterpret_cast<float*>(scratch));
  char* const split = scratch;
  scratch += gemm_bf16_split_bytes(w, (last_panel - first_panel) * 32, panels_inside);
  Product product(w, packed, rows, epilogue, bound, last_panel, reinterpret_cast<float*>(scratch + epilogue_bytes), scratch);
  gemm_bf16_kernels().enter();
  product.use(0, packed);
  for (std::int64_t piece = 0; k_pieces > 1 && piece < k_pieces; ++piece)
    for (std::int64_t panel = first_panel; panel < last_panel; ++panel) {
      if (w.whole()) product.use(panel, split);
      for (std::int64_t row = 0; row < rows.count; row += kPair) product.run_piece(row, panel, first_panel, {piece, k_pieces});
    }
  if (k_pieces > 1) first_panel = last_panel;
  for (std::int64_t panel = first_panel; panel < last_panel; panel += at_once) {
    const std::int64_t last = std::min(panel + at_once, last_panel);
    if (w.whole()) product.use(panel, split);
    for (std::int64_t segment = 0; segment < rows.segments; ++segment)
      for (std::int64_t row = 0; row < rows.count; row += kPair) product.run(segment, row, panel, last);
  }
  product.last_epilogue();
  gemm_bf16_kernels().leave();
}

}  // namespace tenfold::backends::cpu
