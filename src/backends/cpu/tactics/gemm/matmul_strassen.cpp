// matmul_strassen: activations times a constant matrix with seven products of quarters instead of eight (Strassen's algorithm, one
// level, in Winograd's form). Sums of quarters of the activations are made for a block of rows, those of the weights by the first
// tile that needs them; what products add up to on their way to a result stays in the cache. So only weights are packed, once, and
// a result is touched once for each block of K. After Huang, Smith, Henry and van de Geijn, "Strassen's Algorithm Reloaded" (SC16).
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/heuristics.h"
#include "backends/cpu/gemm/matrix_rows.h"
#include "backends/cpu/kernels/gemm/strassen_f32.h"
#include "backends/cpu/tactics/gemm/constant_gemm_common.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMaxRows = 240;  // of a block: its pointers lie on the stack
constexpr std::int64_t kMinRows = 64, kMinWidth = 128;

const StrassenF32Kernels& sums_of(std::int64_t isa) { return isa == kGemmAvx2 ? tenfold_strassen_f32_avx2 : tenfold_strassen_f32_avx512; }

// Rows of one example of a batch: sums pair these alone, so that a NaN stays with its example.
std::int64_t likely_own_rows(const Problem& p) {
  return rank_of(p.in[0]) > 2 ? likely_rows(p) / std::max<std::int64_t>(likely(p, p.in[0].dims[0], 128), 1) : likely_rows(p);
}

Verdict supports(const Problem& p) {
  if (const Verdict common = supports_constant_gemm(p); !common) return common;
  if (!p.numerics.strassen) return Verdict::no("Strassen's algorithm is switched off (--noStrassen)");
  if (k_of(p) % 2 != 0) return Verdict::no("its depth is odd");
  return Verdict::only_if(likely_own_rows(p) >= kMinRows && k_of(p) >= kMinWidth && n_of(p) >= kMinWidth, "too small for it to pay");
}

// {instruction set, rows of a block, columns of a block, k of a block}, all of one half. A block's rows of A and their sums stay in L2.
std::vector<Config> configs(const Problem& p) {
  const std::int64_t rows = ceil_div(likely_own_rows(p), 2), columns = ceil_div(n_of(p), 2), k = k_of(p) / 2;
  const auto piece = [](std::int64_t whole, std::int64_t max) { return ceil_div(whole, ceil_div(whole, max)); };
  std::vector<Config> all;
  for (const std::int64_t isa : gemm_isas(*p.device, rows, columns)) {
    const std::int64_t panel = gemm_f32_kernels(isa).panel;
    const std::int64_t panel_depth = std::max<std::int64_t>(p.device->l1_bytes * 3 / 4 / (4 * panel), 64);
    for (const std::int64_t depth : {panel_depth, 2 * panel_depth}) {
      for (const std::int64_t max_rows : {110, 80}) {
        for (const std::int64_t parts : {1, 2, 4}) {
          const Config c{isa, piece(rows, max_rows), round_up(ceil_div(columns, parts), panel), piece(k, depth * 5 / 4)};
          if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
        }
      }
    }
  }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[1] <= kMaxRows && c[2] > 0 && c[2] < 1 << 30 && c[3] > 0 && c[3] < 1 << 30,
                          "its block sizes are out of range");
}

// Halves change places: the lower and the right one count as first. So only a first half may lack a row or columns, and those are
// wanted nowhere else. Quarters are packed panel by panel beside each other.
enum Quarter { k11, k12, k21, k22 };
bool is_second_row(int quarter) { return quarter >= k21; }
bool is_second_column(int quarter) { return quarter % 2 != 0; }

GemmF32Weights weights_of(const Problem& p, const Config& c) {
  const int panel = gemm_f32_kernels(c[0]).panel;
  return {.taps = 4, .k = k_of(p) / 2, .n = round_up(ceil_div(n_of(p), 2), panel), .k_block = std::min(c[3], k_of(p) / 2), .panel = panel};
}
std::int64_t packed_bytes(const Problem& p, const Config& c, int input) { return input == 1 ? weights_of(p, c).floats() * 4 : -1; }

void pack(const Problem& p, const Config& c, int, std::span<const Tensor* const> constants, void* packed) {
  const GemmF32Weights w = weights_of(p, c);
  const float* b = constants[1]->data<float>();
  const std::int64_t all = n_of(p);
  pack_f32(w, static_cast<float*>(packed), [&](std::int64_t quarter, std::int64_t k, std::int64_t n) {
    if (is_second_row(static_cast<int>(quarter))) k += w.k;
    if (!is_second_column(static_cast<int>(quarter))) n += w.n;
    return n < all ? b[k * all + n] : 0.f;
  });
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  const GemmF32Weights w = weights_of(p, c);
  Tensor b(DType::f32, {2 * w.k, n_of(p)});
  float* to = b.mutable_data<float>();
  for (std::int64_t k = 0; k < 2 * w.k; ++k)
    for (std::int64_t n = 0; n < n_of(p); ++n)
      *to++ = static_cast<const float*>(packed)[w.slot(k / w.k * 2 + (n < w.n ? 1 : 0), k % w.k, n % w.n)];
  return b;
}

struct Kernel {
  const GemmF32Kernels* kernels;
  StrassenF32Sums sums;
  GemmF32Weights weights;
  std::int64_t n, rows, cols;
  F32Epilogue epilogue;
  std::vector<float> zeros;  // a row that does not exist
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const GemmF32Weights w = weights_of(p, c);
  return std::make_shared<Kernel>(Kernel{&gemm_f32_kernels(c[0]), sums_of(c[0]).left, w, n_of(p), c[1], c[2],
                                         F32Epilogue(p, rank_of(p.out[0]) - 1), std::vector<float>(static_cast<std::size_t>(2 * w.k))});
}

// Of a worker: two tiles of sums on their way, two panels of weights, four sums of activations.
std::int64_t panel_floats(const GemmF32Weights& w) { return w.k_block * w.panel; }
std::int64_t scratch_floats(const GemmF32Weights& w, std::int64_t rows) {
  return 2 * rows * w.panel + 2 * panel_floats(w) + 4 * rows * w.k_block;
}
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  return scratch_floats(weights_of(p, c), c[1]) * 4 + F32Epilogue(p, rank_of(p.out[0]) - 1).scratch_bytes();
}

// What one of the seven products multiplies and where its sums go. X and Y hold, for each row, what goes on to several quarters of C.
struct Step {
  int left;                // a quarter of A, or 4 + a sum's number
  int right, minus, made;  // a quarter of B, less another matrix where one is given; the difference is kept in T0 or T1
  int to, addend, also;    // the sums go to a quarter of C, X or Y, after adding X or Y; the bare sums are added to X as well
};
enum { kT0 = 4, kT1, kX = kT0, kY = kT1, kNone };  // numbers behind those of quarters
constexpr Step kSteps[7] = {
    {k11, k11, kNone, kNone, kX, kNone, kNone},  // X = P1
    {k12, k21, kNone, kNone, k11, kX, kNone},    // C11 = X + P2
    {4 + 0, k12, k11, kT0, kY, kX, kNone},       // Y = X + P5
    {4 + 1, k22, kT0, kT1, kY, kY, kX},          // Y += P6, X += P6
    {4 + 3, k22, kNone, kNone, k12, kY, kNone},  // C12 = Y + P3
    {4 + 2, k22, k12, kT0, k22, kY, kX},         // C22 = Y + P7, X += P7
    {k22, k21, kT1, kT0, k21, kX, kNone},        // C21 = X - P4
};

struct Product {
  const Kernel& kernel;
  const RunArgs& args;
  const Bound &a = args.in[0], &y = args.out[0];
  MatrixRows a_rows{a, 0, a.rank - 1};
  std::int64_t c_stride = y.rank > 1 ? MatrixRows(y, 0, y.rank - 1).stride() : 0;
  std::int64_t examples = a.rank > 2 ? a.dims[0] : 1, m = rows(), half = (m + 1) / 2;  // m: of one example
  F32Epilogue::Binding bound{};

  std::int64_t rows() const noexcept {
    std::int64_t n = 1;
    for (int i = a.rank > 2 ? 1 : 0; i + 1 < a.rank; ++i) n *= a.dims[i];
    return n;
  }
  const float* left(int quarter, std::int64_t row, std::int64_t example_row) const noexcept {
    if (!is_second_row(quarter)) row += half;
    const float* from = row < m ? a.as<const float>() + a_rows.offset(example_row + row) : kernel.zeros.data();
    return from + (is_second_column(quarter) ? kernel.weights.k : 0);
  }
};

// A block of both halves' rows of an example, which begins at `example_row`, times a range of both halves' columns.
struct Block {
  const Product& product;
  std::int64_t example_row, row, rows, first_panel, last_panel;
  float* scratch;
  const Kernel& kernel = product.kernel;
  const GemmF32Weights& w = kernel.weights;
  const int high = kernel.kernels->max_rows;
  const RowTiles tiles{rows, high};
  float *const x = scratch, *const y = x + rows * w.panel, *const t0 = y + rows * w.panel, *const t1 = t0 + panel_floats(w),
               *const sums = t1 + panel_floats(w);
  const float* tables[8][kMaxRows + 16];  // of quarters and sums

  void all() noexcept {
    for (int left = 0; left < 8; ++left)
      fill_table(tiles, 1, high, tables[left], [&](std::int64_t r, const float** entry) {
        *entry = left < 4 ? product.left(left, row + r, example_row) : sums + ((left - 4) * rows + r) * w.k_block;
      });
    for (std::int64_t k = 0; k < w.k_blocks(); ++k) {
      add_left(k);
      for (std::int64_t panel = first_panel; panel < last_panel; ++panel)
        for (int s = 0; s < 7; ++s) step(s, k, panel);
    }
    if (!kernel.epilogue.in_registers())
      for (int quarter = 0; quarter < 4; ++quarter) apply_epilogue(quarter);
  }

  void add_left(std::int64_t k) const noexcept {
    const std::int64_t offset = k * w.k_block, step = rows * w.k_block;
    for (std::int64_t r = 0; r < rows; ++r) {
      float* const to = sums + r * w.k_block;
      kernel.sums({product.left(k11, row + r, example_row) + offset, product.left(k12, row + r, example_row) + offset,
                   product.left(k21, row + r, example_row) + offset, product.left(k22, row + r, example_row) + offset},
                  w.depth(k), {to, to + step, to + 2 * step, to + 3 * step});
    }
  }

  std::int64_t c_row(int quarter) const noexcept { return row + (is_second_row(quarter) ? 0 : product.half); }
  std::int64_t c_column(int quarter, std::int64_t panel) const noexcept { return panel * w.panel + (is_second_column(quarter) ? 0 : w.n); }
  float* c(std::int64_t r, std::int64_t column) const noexcept {
    return product.y.as<float>() + (example_row + r) * product.c_stride + column;
  }

  void step(int number, std::int64_t k, std::int64_t panel) const noexcept {
    const Step& s = kSteps[number];
    const bool ends = s.to < 4;
    const std::int64_t column = c_column(s.to, panel), floats = w.depth(k) * w.panel;
    const float* const packed = product.args.in[1].as<const float>() + w.at(k, panel);
    const auto right = [&](int of) { return of < 4 ? packed + of * floats : of == kT0 ? t0 : t1; };
    GemmF32Tile t;
    t.offset = s.left < 4 ? k * w.k_block : 0;
    t.k = w.depth(k);
    t.panel = right(s.right);
    t.c_stride = ends ? product.c_stride : w.panel;
    t.cols = ends ? std::min<std::int64_t>(w.panel, kernel.n - column) : w.panel;
    if (t.cols <= 0) return;
    t.accumulate = ends && k > 0;
    t.fetch = ends && is_far(product.examples * product.m, kernel.n);
    Soon soon(*this, number, t, packed + 4 * floats);
    for (std::int64_t i = 0; i < tiles.count; ++i) {
      const std::int64_t at = tiles.begin(i), first = (ends ? c_row(s.to) : 0) + at;
      const std::int64_t height = std::min(tiles.begin(i + 1) - at, (ends ? product.m : rows) - first);
      if (height <= 0) continue;
      const auto on_way = [&](int of) { return of == kNone ? nullptr : (of == kX ? x : y) + at * w.panel; };
      t.rows = tables[s.left] + i * high;
      t.c = ends ? c(first, column) : on_way(s.to);
      t.addend = on_way(s.addend);
      t.also = on_way(s.also);
      soon.give(t);
      GemmF32EpilogueArgs epilogue;
      if (ends && product.bound.any && k + 1 == w.k_blocks())
        epilogue = product.bound.at(example_row + first, column), t.epilogue = &epilogue;
      if (i == 0 && s.minus != kNone) {
        t.minus = right(s.minus), t.made = s.made == kT0 ? t0 : t1;
        kernel.kernels->difference[height - 1](t);
        t.panel = t.made;
      } else {
        kernel.kernels->tile[height - 1](t);
      }
    }
  }

  // Weights of the next panel are fetched by all tiles of the seven products together.
  struct Soon {
    const char *at, *end;
    std::int64_t of_tile;
    int lines;
    Soon(const Block& b, int number, const GemmF32Tile& t, const float* next) noexcept {
      const std::int64_t bytes = 4 * t.k * b.w.panel * 4, times = (t.k + kSoonSteps - 1) / kSoonSteps, all = times * b.tiles.count * 7;
      lines = static_cast<int>((bytes + 64 * all - 1) / (64 * all));
      of_tile = times * lines * 64;
      at = reinterpret_cast<const char*>(next) + number * b.tiles.count * of_tile;
      end = reinterpret_cast<const char*>(next) + bytes;
    }
    void give(GemmF32Tile& t) noexcept {
      t.soon = at;
      t.soon_lines = at < end ? lines : 0;
      at += of_tile;
    }
  };

  void apply_epilogue(int quarter) const noexcept {
    const std::int64_t first = c_row(quarter), column = c_column(quarter, first_panel);
    const std::int64_t height = std::min(rows, product.m - first);
    const std::int64_t width = std::min((last_panel - first_panel) * w.panel, kernel.n - column);
    if (height <= 0 || width <= 0) return;
    float* const own = scratch + scratch_floats(w, kernel.rows);
    kernel.epilogue.apply(product.bound, example_row + first, height, column, width, c(first, column), product.c_stride, own);
  }
};

double work(const Problem& p) { return 7. / 8 * constant_gemm_work(p); }

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const GemmF32Weights& w = kernel.weights;
  Product product{kernel, args};
  if (product.examples * product.m == 0) return Status::ok;
  kernel.epilogue.bind(args, TileAxes::last(product.y.rank), product.bound);
  const std::int64_t row_blocks = ceil_div(product.half, kernel.rows), panels = w.panels();
  const std::int64_t column_blocks = ceil_div(w.n, std::max<std::int64_t>(kernel.cols, w.panel));
  args.parallel->for_each(product.examples * row_blocks * column_blocks, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t j = part % column_blocks, i = part / column_blocks % row_blocks, example = part / column_blocks / row_blocks;
    const std::int64_t row = i * product.half / row_blocks;
    Block block{product,
                example * product.m,
                row,
                (i + 1) * product.half / row_blocks - row,
                j * panels / column_blocks,
                (j + 1) * panels / column_blocks,
                args.scratch_of<float>(worker)};
    block.all();
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_strassen() {
  return packed_tactic({.name = "matmul_strassen", .version = 2, .ops = {"MatMul"}, .rounds_f32 = true,
                        .worker_scratch = worker_scratch,
                        .cases = {"MatMul f32[1100,136] f32[136,144]! numerics={round_to=tf32}"}},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
