// Choice of block sizes: what fits the caches, and parts enough for several workers.
#include <algorithm>

#include "backends/cpu/gemm/gemm_f32.h"
#include "backends/cpu/gemm/many_threads.h"

namespace tenfold::backends::cpu {
namespace {

// Where vectors along K are worth a try: few columns would fill lanes, and sums of lanes are a small part.
constexpr std::int64_t kMostDotColumns = 8, kLeastDotDepth = 6;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
// The piece size that cuts `whole` into the fewest nearly equal pieces of at most `most`, a multiple of `unit`.
std::int64_t even_piece(std::int64_t whole, std::int64_t most, std::int64_t unit) {
  if (whole <= most) return std::max<std::int64_t>(whole, 1);
  const std::int64_t pieces = divide_up(whole, std::max(most, unit));
  return divide_up(divide_up(whole, pieces), unit) * unit;
}

}  // namespace

std::vector<std::int64_t> gemm_isas(const DeviceInfo& device, std::int64_t rows, std::int64_t columns) {
  if (!(device.features & kAvx512)) return {kGemmAvx2};
  const int broad = gemm_f32_kernels(kGemmBroadAvx512).panel, rest = static_cast<int>(columns % broad);
  const bool fits = rest == 0 || columns >= 4 * broad || rest > gemm_f32_kernels(kGemmAvx512).panel;
  if (rows < gemm_f32_kernels(kGemmBroadAvx512).max_rows || !fits) return {kGemmAvx512};
  return {kGemmAvx512, kGemmBroadAvx512};
}

std::vector<GemmF32Cut> gemm_f32_cuts(const DeviceInfo& device, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t taps,
                                      std::int64_t k, bool dots, bool together) {
  batch = std::max<std::int64_t>(batch, 1), m = std::max<std::int64_t>(m, 1), n = std::max<std::int64_t>(n, 1);
  const std::int64_t isa = best_gemm_isa(device);
  const std::int64_t l2 = std::clamp<std::int64_t>(device.l2_bytes, 256 << 10, 2 << 20);
  const double flops = gemm_f32_flops(batch, m, n, taps * k);
  const std::int64_t apart = together ? 1 : batch;   // products that are parts of their own

  // Of K: a panel takes most of L1, times `deeper`; with few rows it is not read again, so K stays whole.
  const auto cut = [&](std::int64_t of_isa, double deeper, std::int64_t parts) {
    const GemmF32Kernels& kernels = gemm_f32_kernels(of_isa);
    const std::int64_t panel_depth = std::max<std::int64_t>(device.l1_bytes * 3 / 4 / (4 * kernels.panel), 64);
    const auto depth = static_cast<std::int64_t>(static_cast<double>(panel_depth) * deeper);
    const bool whole = m <= 2 * kernels.max_rows || taps * k <= depth * 3 / 2;
    GemmF32Cut c{of_isa, 0, 0, whole ? std::max<std::int64_t>(k, 1) : even_piece(k, std::max<std::int64_t>(depth / taps, 1), 4)};
    // Rows: half of L2, a table of pointers; columns: until there are parts enough.
    const std::int64_t most_rows =
        std::min(table_rows(taps, kernels.max_rows), std::max<std::int64_t>(l2 / 2 / (4 * taps * c.k), 2 * kernels.max_rows));
    const bool narrow = n * taps * k * 4 <= l2 / 2;  // B stays in L2: rows may be cut freely
    const std::int64_t row_parts = narrow ? divide_up(parts, apart) : 1;
    c.rows = even_piece(m, std::min(most_rows, std::max<std::int64_t>(divide_up(m, row_parts), kernels.max_rows)), kernels.max_rows);
    const std::int64_t blocks = apart * divide_up(m, c.rows);
    c.cols = even_piece(n, std::max<std::int64_t>(divide_up(n, divide_up(parts, blocks)), kernels.panel), kernels.panel);
    return c;
  };
  const auto parts = [&](double each) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(flops / each), 1, 64); };
  std::vector<GemmF32Cut> cuts{cut(isa, 1, std::min<std::int64_t>(parts(2e6), 16))};
  const auto offer = [&](const GemmF32Cut& c) {
    for (const GemmF32Cut& old : cuts)
      if (old.isa == c.isa && old.rows == c.rows && old.cols == c.cols && old.k == c.k) return;
    cuts.push_back(c);
  };
  if (dots && n <= kMostDotColumns && k >= kLeastDotDepth) {
    GemmF32Cut c = cuts[0];
    c.isa = isa == kGemmAvx512 ? kGemmDotAvx512 : kGemmDotAvx2, c.k = k;
    const int max_rows = gemm_f32_kernels(c.isa).max_rows;
    c.rows = even_piece(m, std::min(std::max<std::int64_t>(c.rows, 64), table_rows(taps, max_rows)), max_rows);
    offer(c);
  }
  offer(cut(isa, 0.5, std::min<std::int64_t>(parts(2e6), 16)));
  offer(cut(isa, 4, std::min<std::int64_t>(parts(2e6), 16)));
  // One part is for small products alone: tuned on a busy machine a large one would never be shared again.
  if (flops < 2e7) offer(cut(isa, 1, 1));
  // Two parts of some microseconds pay only where weights are what has to be read: between cores without a common cache rows of
  // a result that change hands cost as much as their product.
  if (flops >= kLeastSharedFlops || m <= gemm_f32_kernels(isa).max_rows) offer(cut(isa, 1, 2));
  // Few values make each of many columns: the lines of some rows are written side by side to their ends.
  if (const std::int64_t few = 2 * gemm_f32_kernels(isa).max_rows; taps * k <= 32 && n >= 256 && m > 2 * few)
    offer({isa, few, n, std::max<std::int64_t>(k, 1)});
  offer(cut(isa, 1, parts(1e6)));
  if (many_threads())
    for (const std::int64_t wanted : {16, 32, 64}) {   // blocks of rows, too, where weights are large and columns few
      if (parts(1e6) < wanted || apart > 1) continue;
      const GemmF32Kernels& kernels = gemm_f32_kernels(isa);
      GemmF32Cut c = cuts[0];
      c.cols = even_piece(n, std::max<std::int64_t>(divide_up(n, 8), kernels.panel), kernels.panel);
      const std::int64_t blocks = divide_up(wanted, divide_up(n, c.cols));
      c.rows = std::min(c.rows, even_piece(m, std::max<std::int64_t>(divide_up(m, blocks), kernels.max_rows), kernels.max_rows));
      offer(c);
    }
  for (const std::int64_t other : gemm_isas(device, m, n)) {
    if (other == isa) continue;
    for (const double deeper : {1., 4.}) offer(cut(other, deeper, std::min<std::int64_t>(parts(2e6), 16)));
    offer(cut(other, 1, flops < 2e7 ? 1 : 2));
    offer(cut(other, 1, parts(1e6)));
  }
  return cuts;
}

}  // namespace tenfold::backends::cpu
