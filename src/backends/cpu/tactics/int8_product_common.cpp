// The blocked int8 product: a block of rows is read where it lies, or gathered once per chunk of k, multiplied with every panel of
// weights of its block of columns, and finished while its accumulators are hot.
#include <algorithm>

#include "backends/cpu/tactics/int8_common.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

namespace {
constexpr std::int64_t kEnoughParts = 16;
}  // namespace

struct Int8Product::Block {
  std::int64_t group, row, rows, column, columns;
  bool gathered;  // the rows of the only chunk already
};

// Gathered rows and accumulators of one block: on the worker's stack.
struct Int8Product::Scratch {
  alignas(64) char a[kInt8MaxRows * (kInt8MaxChunkBytes + 64) + 64];
  alignas(64) std::int32_t c[kInt8MaxRows * kInt8MaxColumns];
  alignas(64) std::int32_t start[kInt8MaxColumns];
  std::int32_t row_sums[kInt8MaxRows];
};

Int8Product::Int8Product(const Problem& problem, const Config& config, const Int8Weights& shape, bool is_signed, int channel_axis)
    : kernels(&int8_kernels(config[0])),
      weights(shape),
      packing(shape, *kernels),
      a_signed(is_signed),
      block_rows(config[1]),
      block_columns(config[2]),
      end(problem, int8_finish_kernels(config[0]), channel_axis) {
  if (!kernels->ordered) return;
  spare_order = packing.chunk(0, 0).typical_order();
  last_spare_order = packing.chunk(0, (packing.depth() - 1) / kernels->k_chunk * kernels->k_chunk).typical_order();
}

void Int8Product::run(const Int8Rows& rows, std::int64_t count, std::int32_t zero, const RunArgs& args,
                      const TileAxes& axes) const noexcept {
  Int8End::Binding binding;
  end.bind(args, axes, weights.n * weights.groups, binding);
  const void* packed = args.in[1].data;
  const std::int64_t row_blocks = ceil_div(count, block_rows), column_blocks = ceil_div(weights.n, block_columns);
  // Rows that were gathered serve all columns, unless only columns make enough parts; then neighbouring parts share their weights.
  const std::int64_t parts_of_rows = row_blocks * weights.groups, split = parts_of_rows >= kEnoughParts ? 1 : column_blocks;
  args.parallel->for_each(parts_of_rows * split, [&](std::int64_t part, int worker) {
    Scratch s;
    Block block;
    block.row = part % row_blocks * block_rows;
    block.rows = std::min(block_rows, count - block.row);
    block.group = part / row_blocks / split;
    const std::int64_t first = part / row_blocks % split, last = split == 1 ? column_blocks : first + 1;
    for (std::int64_t c = first; c < last; ++c) {
      block.column = c * block_columns;
      block.columns = std::min(block_columns, weights.n - block.column);
      block.gathered = c > first && weights.k <= kernels->k_chunk;
      run_block(rows, block, zero, packed, binding, s, args.scratch_of(worker));
    }
  });
}

namespace {

std::int32_t sum_of(const char* row, std::int64_t count, bool is_signed) {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += is_signed ? static_cast<std::int8_t>(row[i]) : static_cast<std::uint8_t>(row[i]);
  return sum;
}

}  // namespace

void Int8Product::run_block(const Int8Rows& rows, const Block& block, std::int32_t zero, const void* packed, const Int8End::Binding& bound,
                            Scratch& s, void* scratch) const noexcept {
  const Int8Kernels& kernel = *kernels;
  const std::int64_t width = std::min(round_up_to(block.columns, kernel.nr / 2), packing.columns() - block.column);
  const std::int32_t moved_zero = zero + (a_signed ? kernel.signed_shift : 0);
  const std::int32_t* sums = packing.sums(packed, block.group) + block.column;
  const std::int32_t* constants = packing.constants(packed, block.group) + block.column;
  for (std::int64_t j = 0; j < width; ++j)
    s.start[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(constants[j]) -
                                           static_cast<std::uint32_t>(moved_zero) * static_cast<std::uint32_t>(sums[j]));
  const bool rests = packing.has_rests(packed);
  if (rests) std::fill_n(s.row_sums, block.rows, 0);

  std::int64_t direct_stride = 0;
  const bool may_be_direct = (a_signed ? kernel.direct_signed : kernel.direct_unsigned) && weights.k == packing.depth();
  const char* direct = may_be_direct ? rows.direct(block.group, block.row, direct_stride) : nullptr;
  if (kernel.enter) kernel.enter(a_signed);
  for (std::int64_t k = 0; k < weights.k; k += kernel.k_chunk) {
    const std::int64_t count = std::min<std::int64_t>(kernel.k_chunk, weights.k - k);
    const std::int64_t depth = std::min<std::int64_t>(kernel.k_chunk, packing.depth() - k);
    // One cache line more than the values, so that rows do not fall into the same sets.
    const std::int64_t stride = direct ? direct_stride : round_up_to(depth, 64) + (depth >= 512 ? 64 : 0);
    if (!direct && !block.gathered) rows.fill(kernel, block.group, block.row, block.rows, k, count, s.a, stride);
    const char* a = direct ? direct + k : s.a;
    for (std::int64_t j = 0; j < width;) {
      const std::int64_t panel = packing.panel_width(block.column + j);
      const char* b = packing.panel(packed, block.group, block.column + j, k);
      const std::uint16_t* order = packing.order(packed, block.group, block.column + j, k);
      // Never read what a damaged plan would point at.
      if (order && !packing.chunk(block.column + j, k).has(order))
        order = (k + kernel.k_chunk < packing.depth() ? spare_order : last_spare_order).data();
      kernel.panel(block.rows, static_cast<int>(panel), a, stride, b, depth / kernel.k_group, order, k == 0 ? s.start + j : nullptr,
                   s.c + j, width, a_signed);
      j += panel;
    }
    if (rests) {
      const bool bytes_signed = a_signed && kernel.signed_shift == 0;
      for (std::int64_t r = 0; r < block.rows; ++r) s.row_sums[r] += sum_of(a + r * stride, count, bytes_signed);
    }
  }
  if (kernel.leave) kernel.leave();
  if (rests) {
    const std::int32_t* rest = packing.rests(packed, block.group) + block.column;
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const std::int32_t sum = s.row_sums[r] - static_cast<std::int32_t>(weights.k) * moved_zero;
      for (std::int64_t j = 0; j < width; ++j) s.c[r * width + j] -= rest[j] * sum;
    }
  }
  end.apply(bound, block.row, block.rows, block.group * weights.n + block.column, block.columns, s.c, width, scratch);
}

}  // namespace tenfold::backends::cpu
