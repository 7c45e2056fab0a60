// Choice of block sizes: what fits the caches, and parts enough for several workers.
#include <algorithm>

#include "backends/cpu/gemm/gemm_f32.h"

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

std::vector<GemmF32Cut> gemm_f32_cuts(const DeviceInfo& device, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t taps,
                                      std::int64_t k, bool dots) {
  batch = std::max<std::int64_t>(batch, 1), m = std::max<std::int64_t>(m, 1), n = std::max<std::int64_t>(n, 1);
  const std::int64_t isa = best_gemm_isa(device);
  const GemmF32Kernels& kernels = gemm_f32_kernels(isa);
  const std::int64_t l2 = std::clamp<std::int64_t>(device.l2_bytes, 256 << 10, 2 << 20);
  const double flops = 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(taps * k);

  // Of K: a panel takes most of L1; with few rows it is not read again, so K stays whole.
  const std::int64_t panel_depth = std::max<std::int64_t>(device.l1_bytes * 3 / 4 / (4 * kernels.panel), 64);
  const auto k_block = [&](std::int64_t depth) {
    if (m <= 2 * kernels.max_rows || taps * k <= depth * 3 / 2) return std::max<std::int64_t>(k, 1);
    return even_piece(k, std::max<std::int64_t>(depth / taps, 1), 4);
  };
  const auto cut = [&](std::int64_t depth, std::int64_t parts) {
    GemmF32Cut c{isa, 0, 0, k_block(depth)};
    // Rows: half of L2, a table of pointers; columns: until there are parts enough.
    const std::int64_t most_rows =
        std::min(table_rows(taps, kernels.max_rows), std::max<std::int64_t>(l2 / 2 / (4 * taps * c.k), 2 * kernels.max_rows));
    const bool narrow = n * taps * k * 4 <= l2 / 2;  // B stays in L2: rows may be cut freely
    const std::int64_t row_parts = narrow ? divide_up(parts, batch) : 1;
    c.rows = even_piece(m, std::min(most_rows, std::max<std::int64_t>(divide_up(m, row_parts), kernels.max_rows)), kernels.max_rows);
    const std::int64_t blocks = batch * divide_up(m, c.rows);
    c.cols = even_piece(n, std::max<std::int64_t>(divide_up(n, divide_up(parts, blocks)), kernels.panel), kernels.panel);
    return c;
  };
  const auto parts = [&](double each) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(flops / each), 1, 64); };
  std::vector<GemmF32Cut> cuts{cut(panel_depth, std::min<std::int64_t>(parts(2e6), 16))};
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
  offer(cut(panel_depth / 2, std::min<std::int64_t>(parts(2e6), 16)));
  offer(cut(4 * panel_depth, std::min<std::int64_t>(parts(2e6), 16)));
  // One part is for small products alone: tuned on a busy machine a large one would never be shared again.
  if (flops < 2e7) offer(cut(panel_depth, 1));
  // Two parts of some microseconds pay only where weights are what has to be read: between cores without a common cache rows of
  // a result that change hands cost as much as their product.
  if (flops >= 3e6 || m <= kernels.max_rows) offer(cut(panel_depth, 2));
  offer(cut(panel_depth, parts(1e6)));
  return cuts;
}

}  // namespace tenfold::backends::cpu
