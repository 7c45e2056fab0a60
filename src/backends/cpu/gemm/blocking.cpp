// Choice of block sizes: what fits the caches, and parts enough for several workers.
#include <algorithm>

#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/heuristics.h"

namespace tenfold::backends::cpu {
namespace {

// Where vectors along K are worth a try: few columns would fill lanes, and sums of lanes are a small part.
constexpr std::int64_t kMaxDotColumns = 8, kMinDotDepth = 6;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
// The piece size that cuts `whole` into the fewest nearly equal pieces of at most `max`, a multiple of `unit`.
std::int64_t even_piece(std::int64_t whole, std::int64_t max, std::int64_t unit) {
  if (whole <= max) return std::max<std::int64_t>(whole, 1);
  const std::int64_t pieces = divide_up(whole, std::max(max, unit));
  return divide_up(divide_up(whole, pieces), unit) * unit;
}

}  // namespace

std::vector<std::int64_t> gemm_isas(const DeviceInfo& device, std::int64_t rows, std::int64_t columns) {
  if (!(device.features & kAvx512)) return {kGemmAvx2};
  std::vector<std::int64_t> isas{kGemmAvx512};
  for (const std::int64_t wider : {kGemmBroadAvx512, kGemmQuadAvx512}) {
    const GemmF32Kernels& kernels = gemm_f32_kernels(wider);
    const std::int64_t rest = columns % kernels.panel, vector = kernels.panel / (wider == kGemmQuadAvx512 ? 4 : 3);
    const bool fits = rest == 0 || columns >= 4 * kernels.panel || rest > kernels.panel - vector;
    if (rows >= kernels.max_rows && fits) isas.push_back(wider);
  }
  return isas;
}

namespace {

// Blockings of one product, the best guess first, each once.
class Blockings {
 public:
  Blockings(const DeviceInfo& device, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t taps, std::int64_t k, bool together)
      : device_(device), m_(m), n_(n), taps_(taps), k_(k), apart_(together ? 1 : batch), flops_(gemm_f32_flops(batch, m, n, taps * k)),
        isa_(best_gemm_isa(device)), all_{blocking(isa_, 1, few_parts())} {}

  void offer_dots();
  void offer_steps_together();
  void offer_deeper_and_shared();
  void offer_few_values();
  void offer_finer();
  void offer_for_many_threads();
  void offer_other_isas();
  std::vector<GemmF32Blocking> take() { return std::move(all_); }

 private:
  GemmF32Blocking blocking(std::int64_t isa, double deeper, std::int64_t parts) const;
  void offer(const GemmF32Blocking& c);
  std::int64_t parts(double flops_each) const { return std::clamp<std::int64_t>(static_cast<std::int64_t>(flops_ / flops_each), 1, 64); }
  std::int64_t few_parts() const { return std::min<std::int64_t>(parts(2e6), 16); }

  const DeviceInfo& device_;
  std::int64_t m_, n_, taps_, k_;
  std::int64_t apart_;   // products that are parts of their own
  double flops_;
  std::int64_t isa_;
  std::vector<GemmF32Blocking> all_;
};

// K: a panel takes most of L1, times `deeper`; with few rows it is not read again, so K stays whole. Rows: half of L2, a table of pointers.
// Columns: until there are parts enough.
GemmF32Blocking Blockings::blocking(std::int64_t isa, double deeper, std::int64_t parts) const {
  const std::int64_t l2 = std::clamp<std::int64_t>(device_.l2_bytes, 256 << 10, 2 << 20);
  const GemmF32Kernels& kernels = gemm_f32_kernels(isa);
  const std::int64_t panel_depth = std::max<std::int64_t>(device_.l1_bytes * 3 / 4 / (4 * kernels.panel), 64);
  const auto depth = static_cast<std::int64_t>(static_cast<double>(panel_depth) * deeper);
  const bool whole = m_ <= 2 * kernels.max_rows || taps_ * k_ <= depth * 3 / 2;
  GemmF32Blocking c{isa, 0, 0, whole ? std::max<std::int64_t>(k_, 1) : even_piece(k_, std::max<std::int64_t>(depth / taps_, 1), 4)};
  const std::int64_t max_rows =
      std::min(table_rows(taps_, kernels.max_rows), std::max<std::int64_t>(l2 / 2 / (4 * taps_ * c.k), 2 * kernels.max_rows));
  const bool narrow = n_ * taps_ * k_ * 4 <= l2 / 2;  // B stays in L2: rows may be cut freely
  const std::int64_t row_parts = narrow ? divide_up(parts, apart_) : 1;
  c.rows = even_piece(m_, std::min(max_rows, std::max<std::int64_t>(divide_up(m_, row_parts), kernels.max_rows)), kernels.max_rows);
  const std::int64_t blocks = apart_ * divide_up(m_, c.rows);
  c.cols = even_piece(n_, std::max<std::int64_t>(divide_up(n_, divide_up(parts, blocks)), kernels.panel), kernels.panel);
  return c;
}

void Blockings::offer(const GemmF32Blocking& c) {
  for (const GemmF32Blocking& old : all_)
    if (old.isa == c.isa && old.rows == c.rows && old.cols == c.cols && old.k == c.k) return;
  all_.push_back(c);
}

// Few columns of much depth: lanes add up along k.
void Blockings::offer_dots() {
  if (n_ > kMaxDotColumns || k_ < kMinDotDepth) return;
  GemmF32Blocking c = all_[0];
  c.isa = isa_ == kGemmAvx512 ? kGemmDotAvx512 : kGemmDotAvx2, c.k = k_;
  const int max_rows = gemm_f32_kernels(c.isa).max_rows;
  c.rows = even_piece(m_, std::min(std::max<std::int64_t>(c.rows, 64), table_rows(taps_, max_rows)), max_rows);
  offer(c);
}

// Few columns: two or four steps of K in a vector need fewer loads for each FMA.
void Blockings::offer_steps_together() {
  const std::int64_t isa = n_ > 16 ? kGemmPairsAvx512 : kGemmFoursAvx512;
  if (isa_ != kGemmAvx512 || n_ <= kMaxDotColumns || n_ > 32 || m_ < gemm_f32_kernels(isa).max_rows || k_ < gemm_f32_kernels(isa).lanes)
    return;
  for (const std::int64_t parts : {few_parts(), parts(1e6)}) {
    GemmF32Blocking c = blocking(isa, 64, parts);
    c.k = std::max<std::int64_t>(k_, 1);
    offer(c);
  }
}

void Blockings::offer_deeper_and_shared() {
  offer(blocking(isa_, 0.5, few_parts()));
  offer(blocking(isa_, 4, few_parts()));
  // One part is for small products alone: tuned on a busy machine a large one would never be shared again.
  if (flops_ < 2e7) offer(blocking(isa_, 1, 1));
  // Two parts of some microseconds pay only where weights are what has to be read: between cores without a common cache rows of
  // a result that change hands cost as much as their product.
  if (flops_ >= kMinSharedFlops || m_ <= gemm_f32_kernels(isa_).max_rows) offer(blocking(isa_, 1, 2));
}

// Few values make each of many columns: the lines of some rows are written side by side to their ends.
void Blockings::offer_few_values() {
  const std::int64_t few = 2 * gemm_f32_kernels(isa_).max_rows;
  if (taps_ * k_ <= 32 && n_ >= 256 && m_ > 2 * few) offer({isa_, few, n_, std::max<std::int64_t>(k_, 1)});
}

void Blockings::offer_finer() { offer(blocking(isa_, 1, parts(1e6))); }

// Blocks of rows, too, where weights are large and columns few.
void Blockings::offer_for_many_threads() {
  const GemmF32Kernels& kernels = gemm_f32_kernels(isa_);
  for (const std::int64_t requested : {16, 32, 64}) {
    if (parts(1e6) < requested || apart_ > 1) continue;
    GemmF32Blocking c = all_[0];
    c.cols = even_piece(n_, std::max<std::int64_t>(divide_up(n_, 8), kernels.panel), kernels.panel);
    const std::int64_t blocks = divide_up(requested, divide_up(n_, c.cols));
    c.rows = std::min(c.rows, even_piece(m_, std::max<std::int64_t>(divide_up(m_, blocks), kernels.max_rows), kernels.max_rows));
    offer(c);
  }
}

void Blockings::offer_other_isas() {
  for (const std::int64_t other : gemm_isas(device_, m_, n_)) {
    if (other == isa_) continue;
    const double depth = other == kGemmQuadAvx512 ? 4 : 1;  // panels of four vectors may come from the second cache
    for (const double deeper : {depth, 4 * depth}) offer(blocking(other, deeper, few_parts()));
    offer(blocking(other, depth, flops_ < 2e7 ? 1 : 2));
    offer(blocking(other, depth, parts(1e6)));
  }
}

}  // namespace

std::vector<GemmF32Blocking> gemm_f32_blockings(const DeviceInfo& device, std::int64_t batch, std::int64_t m, std::int64_t n,
                                                std::int64_t taps, std::int64_t k, bool dots, bool together) {
  Blockings blockings(device, std::max<std::int64_t>(batch, 1), std::max<std::int64_t>(m, 1), std::max<std::int64_t>(n, 1), taps, k,
                      together);
  if (dots) blockings.offer_dots(), blockings.offer_steps_together();
  blockings.offer_deeper_and_shared();
  blockings.offer_few_values();
  blockings.offer_finer();
  if (many_threads()) blockings.offer_for_many_threads();
  blockings.offer_other_isas();
  return blockings.take();
}

}  // namespace tenfold::backends::cpu
