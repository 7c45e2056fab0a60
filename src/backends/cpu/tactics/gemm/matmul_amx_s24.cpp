// matmul_amx_s24: rows of f32 times a constant matrix in fixed point of 24 bits, on AMX tiles of bytes. With few rows that is bound by
// reading the weights, of which this reads three quarters of what f32 or two terms of bf16 take.
#include "backends/cpu/kernels/gemm/gemm_s24.h"
#include "backends/cpu/tactics/gemm/matmul_fixed_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr int kTile = GemmS24Kernels::kRows;
constexpr std::int64_t kPanel = FixedWeights::kPanel, kManyTiles = 4;

const GemmS24Kernels& kernels() { return tenfold_gemm_s24_amx; }
FixedWeights weights_of(const Problem& p) { return {k_of(p), n_of(p), FixedWeights::Order::tiles}; }

Verdict supports(const Problem& p) {
  if (const Verdict common = supports_constant_gemm(p); !common) return common;
  if (!(p.device->features & kAmxInt8) || !(p.device->features & kAmxBf16)) return Verdict::no("this machine has no AMX");
  return Verdict::only_if(k_of(p) <= GemmS24Kernels::kMaxDepth, "sums over K this large overflow");
}

// {rows of a block, columns of a block}
std::vector<Config> configs(const Problem& p) {
  const std::int64_t rows = std::max<std::int64_t>(likely_rows(p), 1), n = std::max<std::int64_t>(n_of(p), 1);
  std::vector<Config> all;
  for (const std::int64_t max : {256, 64}) {
    for (const std::int64_t pieces : {4, 2, 8}) {
      const Config c{round_up(ceil_div(rows, ceil_div(rows, max)), kTile), round_up(ceil_div(n, pieces), kPanel)};
      if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
    }
  }
  return all;
}

Verdict valid(const Problem&, const Config& c) {
  if (c.size() != 2) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[0] % kTile == 0 && c[0] <= 1 << 16 && c[1] > 0 && c[1] % kPanel == 0 && c[1] < 1 << 30,
                          "its block sizes are out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return fixed_packed_bytes(weights_of(p), input); }
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  weights_of(p).pack(constants[1]->data<float>(), packed);
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) { return fixed_unpack(weights_of(p), p, packed); }

struct Kernel {
  FixedWeights weights;
  std::int64_t k, n, rows, cols;
  F32Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  return std::make_shared<Kernel>(Kernel{weights_of(p), k_of(p), n_of(p), c[0], c[1], F32Epilogue(p, rank_of(p.out[0]) - 1)});
}

// Slices of all rows, an odd number of cache lines each so that rows spread over the cache, then a scale for each.
std::int64_t row_bytes(const FixedWeights& w) { return (w.depth() * 3 / 64 | 1) * 64; }
ir::Dim workspace(const Problem& p, const Config&) {
  const ir::Dim rows = ir::product(std::span(p.in[0].dims).first(p.in[0].dims.size() - 1));
  return ceil_div(rows, kTile) * (kTile * (row_bytes(weights_of(p)) + 4));
}
constexpr std::int64_t kSumBytes = 2 * GemmS24Kernels::kSums * 4;
ir::Dim worker_scratch(const Problem& p, const Config&) { return kSumBytes + F32Epilogue(p, rank_of(p.out[0]) - 1).scratch_bytes(); }

struct Sliced {
  const char* rows;
  const float* scale;   // kUnfit: fixed point cannot hold the row
};
constexpr float kUnfit = -1;

// Rows [row, row + count) of columns [first, last). Two blocks of sums take turns.
void block(const Kernel& kernel, const FixedRowsGemm& product, const Sliced& sliced, std::int64_t row, std::int64_t count,
           std::int64_t first, std::int64_t last, char* scratch) noexcept {
  const FixedWeights& w = kernel.weights;
  const std::int64_t tiles = ceil_div(count, kTile), panel_bytes = kPanel * w.depth() * 3, lines = panel_bytes / 64;
  GemmS24Tile g{.row_bytes = row_bytes(w), .steps = w.depth() / FixedWeights::kStep};
  GemmS24Waiting waiting[2];
  int turn = 0;
  kernels().enter(static_cast<int>(ceil_div(count, tiles)));
  for (std::int64_t column = first; column < last; column += kPanel) {
    g.panel = w.columns(product.packed, column);
    for (std::int64_t i = 0; i < tiles; ++i, turn ^= 1) {
      const std::int64_t begin = row + i * count / tiles;
      // Many tiles of rows fetch the next panel together. Few wait longer for lines asked for than for those needed.
      if (tiles >= kManyTiles) {
        g.ahead = g.panel + panel_bytes + i * lines / tiles * 64;
        g.lines = column + kPanel < kernel.n ? ceil_div(ceil_div(lines, tiles), std::max<std::int64_t>(g.steps, 1)) : 0;
      }
      g.rows = sliced.rows + begin * g.row_bytes;
      GemmS24Waiting& own = waiting[turn];
      own.sums = reinterpret_cast<std::int32_t*>(scratch) + turn * GemmS24Kernels::kSums;
      own.row_scale = sliced.scale + begin, own.step = w.step(product.packed) + column;
      own.rows = row + (i + 1) * count / tiles - begin;
      own.tile = product.tile(begin, column, std::min(kPanel, last - column), own.epilogue);
      own.has_epilogue = own.tile.epilogue != nullptr;
      kernels().product(g, own.sums, waiting[turn ^ 1]);
    }
  }
  kernels().epilogue(waiting[turn ^ 1]);
  kernels().leave();
  product.apply_epilogue(row, count, first, last, scratch + kSumBytes);
}

// Another program may hold up a worker for a while: the others take over what it has not begun, if pieces are many and small. Each
// column is summed in the same way whatever the piece.
std::int64_t columns_of_piece(const Kernel& kernel, std::int64_t rows, std::int64_t row_blocks, int workers) {
  constexpr std::int64_t kPartsEach = 8, kMinWork = 1 << 23;   // products of a part: 50 us
  if (workers == 1) return kernel.cols;
  const std::int64_t all = ceil_div(kernel.n, kPanel), min = kMinWork / (std::min(rows, kernel.rows) * kernel.k * kPanel + 1) + 1;
  const std::int64_t each = std::max<std::int64_t>(all * row_blocks / workers, 1);   // panels of a worker
  std::int64_t panels = std::min(std::max(each / kPartsEach, min), std::min(each, kernel.cols / kPanel));
  while (panels > 1 && ceil_div(all, panels) * row_blocks % workers != 0) --panels;
  return panels * kPanel;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const FixedWeights& w = kernel.weights;
  const FixedRowsGemm product(w, kernel.epilogue, args);
  const std::int64_t m = product.rows();
  if (m == 0 || kernel.n == 0) return Status::ok;
  auto* const rows = static_cast<char*>(args.workspace);
  auto* const scale = reinterpret_cast<float*>(rows + round_up(m, kTile) * row_bytes(w));
  const bool ordinary = product.ordinary();
  if (ordinary)
    args.parallel->for_each(ceil_div(m, kTile), [&](std::int64_t tile, int) noexcept {
      for (std::int64_t r = tile * kTile; r < std::min(m, (tile + 1) * kTile); ++r)
        if (!kernels().slice(product.row(r), w.balance(product.packed), kernel.k, rows + r * row_bytes(w), scale + r)) scale[r] = kUnfit;
    });
  const std::int64_t row_blocks = ceil_div(m, kernel.rows), cols = columns_of_piece(kernel, m, row_blocks, args.parallel->workers());
  const std::int64_t pieces = ceil_div(kernel.n, cols);
  args.parallel->for_each(row_blocks * pieces, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t row = part / pieces * kernel.rows, count = std::min(kernel.rows, m - row);
    const std::int64_t first = part % pieces * cols, last = std::min(kernel.n, first + cols);
    char* const scratch = args.scratch_of<char>(worker);
    if (!ordinary) return product.whole(row, count, first, last, scratch + kSumBytes);
    block(kernel, product, {rows, scale}, row, count, first, last, scratch);
    // What is no number in some rows is computed again, in these alone.
    for (std::int64_t r = row, next; r < row + count; r = next) {
      for (next = r; next < row + count && scale[next] == kUnfit;) ++next;
      if (next > r) product.whole(r, next - r, first, last, scratch + kSumBytes);
      else ++next;
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_matmul_amx_s24() {
  return packed_tactic({.name = "matmul_amx_s24", .version = 3, .ops = {"MatMul"}, .rounds_f32 = true,
                        .workspace = workspace, .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, constant_gemm_work});
}

}  // namespace tenfold::backends
