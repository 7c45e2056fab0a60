// The blocked int8 product: a block of rows is read where it lies, in one piece or tap by tap, or gathered once per chunk of k, multiplied
// with every panel of weights of its block of columns, and gets its epilogue while its accumulators are hot.
#include <algorithm>

#include "backends/cpu/kernels/int8/int8_small_n.h"
#include "backends/cpu/tactics/int8/int8_common.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

namespace {

constexpr std::int64_t kEnoughParts = 16, kPartsOfWorker = 4, kPartBytes = 1 << 19;

// Of what is to be fetched, as much as [at, at + size) is of `all`; whole lines.
Int8Ahead share(Int8Ahead ahead, std::int64_t at, std::int64_t size, std::int64_t all) {
  const std::int64_t first = ahead.bytes * at / all / 64 * 64, last = ahead.bytes * (at + size) / all / 64 * 64;
  return {ahead.at + first, last - first};
}

}  // namespace

struct Int8Gemm::Block {
  std::int64_t index, group, row, rows, column, columns;   // index: in its stretch of the blocks of rows
  Int8Ahead ahead;  // the weights of the next block of columns, or this block's share of them
  bool first;  // of its rows: what the scratch knows of them serves the blocks of columns that follow
};

// Rows and accumulators of one block: on the worker's stack.
struct Int8Gemm::Scratch {
  union {
    alignas(64) char a[kInt8MaxLaidRows * (kInt8MaxChunkBytes / 2 + 64) + 64];   // gathered
    Int8TapTable taps;
    std::int32_t offsets[kInt8MaxSteps];
  };
  static_assert(sizeof a >= kInt8MaxRows * (kInt8MaxChunkBytes + 64));
  alignas(64) std::int32_t c[kInt8MaxCells];
  std::int32_t row_sums[kInt8MaxLaidRows];
  const char* direct;
  std::int64_t direct_stride, direct_rows;   // rows that are read where they lie; others follow
  bool by_taps;
  Int8Laid laid;
};

// What all blocks of a run share.
struct Int8Gemm::Call {
  const Int8Rows& rows;
  const void* packed;
  const std::int32_t* start;   // what accumulators start at, columns() of each group
  std::int32_t zero;           // of A, as its bytes are when they are added up
  bool rests;
  Int8Epilogue::Binding epilogue;
};

Int8Gemm::Int8Gemm(const Problem& problem, const Config& config, const Int8Weights& shape, bool is_signed, int channel_axis)
    : kernels(&int8_kernels(config[0])),
      weights(shape),
      packing(shape, *kernels),
      a_signed(is_signed),
      block_rows(config[1]),
      block_columns(config[2]),
      epilogue(problem, int8_epilogue_kernels(config[0]), channel_axis) {
  if (!kernels->ordered) return;
  spare_order = packing.chunk(0, 0).typical_order();
  last_spare_order = packing.chunk(0, (packing.depth() - 1) / kernels->k_chunk * kernels->k_chunk).typical_order();
}

void Int8Gemm::run(const Int8Rows& rows, std::int64_t count, std::int32_t zero, const RunArgs& args,
                      const TileAxes& axes) const noexcept {
  const void* packed = args.in[1].data;
  auto* start = reinterpret_cast<std::int32_t*>(static_cast<char*>(args.workspace) + epilogue.workspace_bytes());
  const std::int32_t moved_zero = zero + (a_signed ? kernels->signed_shift : 0);
  for (std::int64_t g = 0; g < weights.groups; ++g)
    epilogue.kernels().start(packing.constants(packed, g), packing.sums(packed, g), moved_zero, packing.columns(),
                             start + g * packing.columns());
  const bool shifted = a_signed && kernels->expand_shifts;
  Call call{rows, packed, start, shifted ? moved_zero : zero, packing.has_rests(packed), {}};
  epilogue.bind(args, axes, weights.n * weights.groups, call.epilogue);
  if (!call.rests && can_stream(rows)) {
    if (const auto to_bytes = epilogue.bytes(call.epilogue, 0)) {
      const bool zeros = std::all_of(start, start + packing.columns() * weights.groups, [](std::int32_t x) { return x == 0; });
      return stream({rows, packed, zeros ? nullptr : start, *to_bytes, call.epilogue.out}, count, args);
    }
  }
  const Int8Laying* const laying = rows.laying();
  const Int8Blocking blocking = this->blocking(rows, count, args.parallel->workers());
  const std::int64_t column_blocks = ceil_div(weights.n, block_columns);
  const std::int64_t step = block_rows % kernels->row_step == 0 ? kernels->row_step : 1, steps = ceil_div(count, step);
  const auto begin = [&](std::int64_t block) { return std::min(block * steps / blocking.blocks * step, count); };
  args.parallel->for_each(blocking.count(), [&](std::int64_t i, int worker) {
    Scratch s;
    const Int8Blocking::Part part = blocking.part(i);
    Block block;
    block.index = part.block % blocking.stretch();
    block.row = begin(part.block);
    block.rows = begin(part.block + 1) - block.row;
    char* const scratch = static_cast<char*>(args.scratch_of(worker));
    if (laying) {
      s.laid = laying->lay(part.block, 1, scratch + scratch_bytes(), s.offsets);
      block.rows = s.laid.rows;
    }
    block.group = part.group;
    const std::int64_t first = part.piece * column_blocks / blocking.pieces, last = (part.piece + 1) * column_blocks / blocking.pieces;
    for (std::int64_t c = first; c < last; ++c) {
      block.column = c * block_columns;
      block.columns = std::min(block_columns, weights.n - block.column);
      block.first = c == first;
      // Parts of other rows find these columns' weights in the cache, and divide the fetching of those that follow.
      block.ahead = ahead(packed, block, blocking.pieces > 1 && c + 1 == last ? blocking.stretch() : 1);
      if (kernels->laid != nullptr && c + 1 < last && block.index > 0) block.ahead.bytes = 0;
      run_block(call, block, s, scratch);
    }
  });
}

// Sums are exact: no result depends on it.
Int8Blocking Int8Gemm::blocking(const Int8Rows& rows, std::int64_t count, std::int64_t workers) const noexcept {
  const Int8Laying* const laying = rows.laying();
  Int8Blocking blocking{.blocks = laying ? laying->blocks() : ceil_div(count, block_rows), .groups = weights.groups};
  // As many blocks for each worker, if these keep a tile of rows.
  const std::int64_t shared = round_up_to(blocking.blocks, workers);
  if (laying == nullptr && kernels->stream == nullptr && shared * kernels->mr <= count) {
    blocking.blocks = shared;
    const std::int64_t taken = count * packing.depth(), made = count * weights.n;
    if (weights.groups == 1 && Int8Blocking::rows_pay(workers, packing.columns() * packing.depth(), taken, made))
      blocking.stretches = workers;
  }
  blocking.pieces = pieces(rows, blocking, workers);
  return blocking;
}

// Into how many parts the columns of a block of rows are blocking.
std::int64_t Int8Gemm::pieces(const Int8Rows& rows, const Int8Blocking& blocking, std::int64_t workers) const noexcept {
  const std::int64_t column_blocks = ceil_div(weights.n, block_columns),
                     parts_of_rows = std::max(blocking.blocks * weights.groups, std::int64_t{1});
  if (parts_of_rows >= kEnoughParts) return 1;
  std::int64_t stride;
  if (blocking.stretches == 1 && rows.laying() == nullptr && rows.direct(0, 0, stride) != nullptr) return column_blocks;
  // Rows that were gathered or laid serve all columns of a part, but other blocks of rows should find its weights in the cache.
  const std::int64_t enough = workers > 1 ? kPartsOfWorker * workers : 1;
  const std::int64_t by_size = blocking.stretch() > 1 ? ceil_div(packing.columns() * packing.depth(), kPartBytes) : 1;
  return std::clamp(std::max(ceil_div(enough, parts_of_rows), by_size), std::int64_t{1}, column_blocks);
}

// Blocks of rows that follow each other share the weights of a block of columns, and divide the fetching of the next one's.
Int8Ahead Int8Gemm::ahead(const void* packed, const Block& block, std::int64_t sharers) const noexcept {
  const std::int64_t next = block.column + block_columns;
  if (next >= weights.n) return {static_cast<const char*>(packed), 0};
  const std::int64_t bytes = std::min(block_columns, packing.columns() - next) * packing.depth();
  return share({packing.panel(packed, block.group, next, 0), bytes}, sharers > 1 ? block.index : 0, 1, sharers);
}

namespace {

std::int32_t sum_of(const char* row, std::int64_t count, bool is_signed) {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += is_signed ? static_cast<std::int8_t>(row[i]) : static_cast<std::uint8_t>(row[i]);
  return sum;
}

}  // namespace

void Int8Gemm::run_block(const Call& call, const Block& block, Scratch& s, void* scratch) const noexcept {
  const std::int64_t width = std::min(round_up_to(block.columns, kernels->nr / 2), packing.columns() - block.column);
  const bool is_laid = call.rows.laying() != nullptr;
  if (block.first && !is_laid) {
    s.direct_rows = direct_rows(call.rows, block.group, block.row, block.rows, s.direct, s.direct_stride);
    s.by_taps = s.direct_rows == 0 && kernels->taps != nullptr && call.rows.find(block.group, block.row, block.rows, s.taps);
  }
  if (call.rests) std::fill_n(s.row_sums, block.rows, 0);
  if (few_steps(call, block, s)) return;
  if (kernels->enter)
    kernels->enter(a_signed);
  else
    epilogue.fetch(call.epilogue, block.row, block.rows, block.group * weights.n + block.column, block.columns);
  if (is_laid)
    multiply_laid(call, block, width, s);
  else if (s.by_taps)
    multiply_taps(call, block, width, s);
  else
    multiply(call, block, width, s);
  if (kernels->leave) kernels->leave();
  if (call.rests) correct_rests(call, block, width, s);
  if (is_laid) return apply_laid_epilogue(call, block, width, s, scratch);
  epilogue.apply(call.epilogue, block.row, block.rows, block.group * weights.n + block.column, block.columns, s.c, width, scratch);
}

// Expansions of few channels. False where they are not.
bool Int8Gemm::few_steps(const Call& call, const Block& block, const Scratch& s) const noexcept {
  const std::int64_t groups = packing.depth() / kernels->k_group, column = block.group * weights.n + block.column;
  if (kernels != &tenfold_int8_vnni || groups > kInt8SmallNGroups || a_signed || call.rests) return false;
  if (s.direct_rows != block.rows || block.columns % kernels->nr != 0) return false;
  const auto to_bytes = epilogue.plain_bytes(call.epilogue, column);
  if (!to_bytes) return false;
  tenfold_int8_small_n_vnni({.a = s.direct,
                         .a_stride = s.direct_stride,
                         .rows = block.rows,
                         .groups = groups,
                         .b = packing.panel(call.packed, block.group, block.column, 0),
                         .columns = block.columns,
                         .init = call.start + block.group * packing.columns() + block.column,
                         .epilogue = &*to_bytes,
                         .out = call.epilogue.out + block.row * call.epilogue.columns + column,
                         .out_stride = call.epilogue.columns});
  return true;
}

// How many of `count` rows are read where they lie, from `first` on; in whole tiles: those of which no byte lies behind the end.
std::int64_t Int8Gemm::direct_rows(const Int8Rows& rows, std::int64_t group, std::int64_t row, std::int64_t count, const char*& first,
                                      std::int64_t& stride) const noexcept {
  first = nullptr;
  if (!(a_signed ? kernels->direct_signed : kernels->direct_unsigned)) return 0;
  if (kernels->whole_rows == 1 && weights.k != packing.depth()) return 0;
  first = rows.direct(group, row, stride);
  if (first == nullptr) return 0;
  const std::int64_t left = rows.end() - first - packing.depth();   // from the end of the first row
  const std::int64_t readable = left < 0 ? 0 : left / stride + 1;
  return std::min(count, readable) / kernels->whole_rows * kernels->whole_rows;
}

void Int8Gemm::multiply_laid(const Call& call, const Block& block, std::int64_t width, Scratch& s) const noexcept {
  const std::int32_t* start = call.start + block.group * packing.columns() + block.column;
  for (std::int64_t k = 0; k < packing.depth(); k += kernels->k_chunk) {
    const std::int64_t depth = std::min<std::int64_t>(kernels->k_chunk, packing.depth() - k);
    const Int8Ahead ahead = share(block.ahead, k, depth, packing.depth());
    for (std::int64_t j = 0; j < width;) {
      const std::int64_t panel = packing.panel_width(block.column + j);
      kernels->laid(block.rows, static_cast<int>(panel), s.laid.first, s.laid.stride, s.offsets + k / (kernels->k_group * kernels->k_step),
                    packing.panel(call.packed, block.group, block.column + j, k), depth / kernels->k_group, k == 0 ? start + j : nullptr,
                    s.c + j, width, a_signed, share(ahead, j, panel, width));
      j += panel;
    }
  }
  if (!call.rests) return;
  // Whatever fills up lines is part of k.
  const std::int64_t step = kernels->k_group * kernels->k_step;
  for (std::int64_t i = 0; i < packing.depth() / step; ++i)
    for (std::int64_t r = 0; r < block.rows; ++r) s.row_sums[r] += sum_of(s.laid.first + r * s.laid.stride + s.offsets[i], step, a_signed);
}

// Line by line: what lies between lines is left out.
void Int8Gemm::apply_laid_epilogue(const Call& call, const Block& block, std::int64_t width, Scratch& s, void* scratch) const noexcept {
  const Int8Laid& laid = s.laid;
  for (std::int64_t r = 0, x = laid.x, out = laid.out; r < block.rows; r += laid.line_rows - x, x = 0, out += laid.line_outputs) {
    const std::int64_t count = std::min(laid.line_outputs - x, block.rows - r);
    if (count > 0)
      epilogue.apply(call.epilogue, out + x, count, block.group * weights.n + block.column, block.columns, s.c + r * width, width, scratch);
  }
}

void Int8Gemm::multiply_taps(const Call& call, const Block& block, std::int64_t width, Scratch& s) const noexcept {
  const Int8TapTable& t = s.taps;
  const std::int32_t* start = call.start + block.group * packing.columns() + block.column;
  for (std::int64_t j = 0; j < width;) {
    const std::int64_t panel = packing.panel_width(block.column + j);
    kernels->taps(block.rows, static_cast<int>(panel), t.taps, t.count, packing.panel(call.packed, block.group, block.column + j, 0),
                  t.bytes / kernels->k_group, start + j, s.c + j, width, a_signed, share(block.ahead, j, panel, width));
    j += panel;
  }
  if (!call.rests) return;
  for (std::int64_t i = 0; i < t.count; ++i)
    for (std::int64_t r = 0; r < block.rows; ++r) s.row_sums[r] += sum_of(t.taps[i].rows[r] + t.taps[i].offset, t.bytes, a_signed);
}

void Int8Gemm::multiply(const Call& call, const Block& block, std::int64_t width, Scratch& s) const noexcept {
  const Int8Kernels& kernel = *kernels;
  const std::int32_t* start = call.start + block.group * packing.columns() + block.column;
  const std::int64_t gathered_rows = block.rows - s.direct_rows;
  const std::int64_t chunk = gathered_rows > kInt8MaxRows ? kInt8MaxChunkBytes / 2 : kernel.k_chunk;
  const bool gathered = !block.first && weights.k <= chunk;
  for (std::int64_t k = 0; k < weights.k; k += chunk) {
    const std::int64_t count = std::min<std::int64_t>(chunk, weights.k - k);
    const std::int64_t depth = std::min<std::int64_t>(chunk, packing.depth() - k);
    // One cache line more than the values, so that rows do not fall into the same sets.
    const std::int64_t stride = round_up_to(depth, 64) + (depth >= 512 ? 64 : 0);
    if (gathered_rows > 0 && !gathered)
      call.rows.fill(kernel, block.group, block.row + s.direct_rows, gathered_rows, k, count, s.a, stride);
    const Int8Ahead ahead = share(block.ahead, k, depth, packing.depth());
    for (std::int64_t j = 0; j < width;) {
      const std::int64_t panel = packing.panel_width(block.column + j);
      const char* b = packing.panel(call.packed, block.group, block.column + j, k);
      const std::uint16_t* order = packing.order(call.packed, block.group, block.column + j, k);
      // Never read what a damaged plan would point at.
      if (order && !packing.chunk(block.column + j, k).has(order))
        order = (k + kernel.k_chunk < packing.depth() ? spare_order : last_spare_order).data();
      const auto rows = [&](std::int64_t first, std::int64_t number, const char* a, std::int64_t a_stride, Int8Ahead soon) {
        if (number > 0)
          kernel.panel(number, static_cast<int>(panel), a, a_stride, b, depth / kernel.k_group, order, k == 0 ? start + j : nullptr,
                       s.c + first * width + j, width, a_signed, soon);
      };
      const Int8Ahead soon = share(ahead, j, panel, width);
      if (s.direct_rows > 0) rows(0, s.direct_rows, s.direct + k, s.direct_stride, soon);
      rows(s.direct_rows, gathered_rows, s.a, stride, s.direct_rows > 0 ? Int8Ahead{soon.at, 0} : soon);
      j += panel;
    }
    if (!call.rests) continue;
    const bool bytes_signed = a_signed && !kernel.expand_shifts;
    for (std::int64_t r = 0; r < block.rows; ++r)
      s.row_sums[r] +=
          sum_of(r < s.direct_rows ? s.direct + r * s.direct_stride + k : s.a + (r - s.direct_rows) * stride, count, bytes_signed);
  }
}

void Int8Gemm::correct_rests(const Call& call, const Block& block, std::int64_t width, Scratch& s) const noexcept {
  const std::int32_t* rest = packing.rests(call.packed, block.group) + block.column;
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const std::int32_t sum = s.row_sums[r] - static_cast<std::int32_t>(weights.k) * call.zero;
    for (std::int64_t j = 0; j < width; ++j) s.c[r * width + j] -= rest[j] * sum;
  }
}

}  // namespace tenfold::backends::cpu
