// Choosing vectors, threads and blocks of a row.
#include "backends/cuda/codegen/region/row_shape.h"

#include <algorithm>

#include "base/checked.h"

namespace tenfold::backends::cuda {

using ir::Dim;

std::vector<const OperandDesc*> pointers(const std::vector<OperandDesc>& in, const std::vector<OperandDesc>& out) {
  std::vector<const OperandDesc*> all;
  for (const auto* side : {&in, &out})
    for (const OperandDesc& o : *side) all.push_back(&o);
  return all;
}

namespace {

// Rows begin at multiples of the width, too.
int width_of(const RowRegionProblem& p, const IndexSpace& outer, const IndexSpace& row) {
  int widest = 1;
  for (const OperandDesc* o : pointers(p.in, p.out)) widest = std::max(widest, std::min(4, bits(o->dtype) / 8));
  int width = row.axes().empty() ? 1 : row.vector_width(std::min(8, 16 / widest), p.box);
  for (std::size_t o = 0; o < p.in.size() + p.out.size() && width > 1; ++o) {
    if (row.axes().back().strides[o] != Dim(1)) continue;
    for (const IndexAxis& a : outer.axes())
      while (width > 1 && !a.strides[o].divisible_by(width)) width /= 2;
  }
  return width;
}

}  // namespace

// Threads of a row: as few as can hold it with some reads under way each, more where there are few rows; several blocks of a cluster where
// the registers of one are too few.
RowShape row_shape(const RowRegionProblem& p, const IndexSpace& outer, const IndexSpace& row) {
  constexpr std::int64_t kFewRows = 1056, kBytes = 128, kMaxBytes = 256, kMaxBlocks = 8;
  static const ir::SymbolBounds nothing_known;
  RowShape s{.width = width_of(p, outer, row)};
  const Dim length = ir::product(p.row);
  if (!length.is_constant() || length.constant() < 1) return s;
  s.length = length.constant();
  std::int64_t bytes = 0, operands = 0;
  for (std::size_t o = 0; o < p.in.size(); ++o)
    if (!p.narrow_in[o]) bytes += bits(p.in[o].dtype) / 8, ++operands;
  const std::int64_t vectors = s.length / s.width, vector_bytes = std::max<std::int64_t>(bytes * s.width, 1);
  const auto of_thread = [&](std::int64_t threads) { return ceil_div(vectors, threads) * vector_bytes; };
  const bool few = ir::product(p.outer).bounds(p.box ? *p.box : nothing_known).upper <= kFewRows;
  const std::int64_t requested = few ? 32 : operands > 1 ? 128 : 64;
  int threads = 8, cluster = 1;
  while (threads < kRowRegionThreads && of_thread(threads) > requested) threads *= 2;
  while (p.clusters && cluster < kMaxBlocks && of_thread(threads * cluster) > kBytes) cluster *= 2;
  if (of_thread(threads * cluster) > kMaxBytes) return s;
  s.held = true, s.threads = threads, s.cluster = cluster, s.rows_per_block = threads > 32 ? 1 : 128 / threads;
  // What is kept takes registers, too, 4 bytes for each element.
  std::int64_t kept = 0;
  for (const RowPhase& phase : row_phases(p.body, p.narrow_in, true).phases) kept += static_cast<std::int64_t>(phase.kept.size());
  s.keeps = of_thread(threads * cluster) + ceil_div(vectors, std::int64_t{threads} * cluster) * s.width * 4 * kept <= 320;
  return s;
}

}  // namespace tenfold::backends::cuda
