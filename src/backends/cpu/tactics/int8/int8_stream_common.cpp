// The int8 product by kernels that apply the epilogue to rows while they add up others: blocks of rows times all or some of the columns, in
// one call.
#include <numeric>

#include "backends/cpu/tactics/int8/int8_common.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kMaxRows = 4 * kInt8MaxLaidRows, kMaxBytes = 1 << 19;   // of a block: a quarter of the second cache
constexpr std::int64_t kTileRows = 16, kMaxTiles = kMaxRows / kTileRows, kColumns = 64;
constexpr std::int64_t kPartsOfWorker = 4, kPartBytes = 1 << 19;
constexpr std::int64_t kUnitRows = 2 * kTileRows, kBlocksOfWorker = 2;  // rows that blocks share; blocks for each of several workers

// The rows of a block as kernels want them: on the worker's stack.
struct Tiles {
  Int8Stream::Tile tiles[kMaxTiles];
  std::int64_t count;
  Int8Laid lines;  // of what rows come in

  void cover(const Int8Laid& laid, std::int64_t columns) {
    count = ceil_div(laid.rows, kTileRows);
    for (std::int64_t t = 0; t < count; ++t) {
      const std::int64_t row = laid.x + t * kTileRows, line = row / laid.line_rows, x = row % laid.line_rows;
      tiles[t].count = std::min(kTileRows, laid.rows - t * kTileRows);
      tiles[t].x = x;
      tiles[t].at = (laid.out + line * laid.line_outputs + std::min(x, laid.line_outputs)) * columns;
    }
    lines = laid;
  }
  void place(std::int64_t first, std::int64_t until, const char* a, std::int64_t stride) {
    for (std::int64_t t = first; t < until; ++t, a += kTileRows * stride) tiles[t].a = a, tiles[t].stride = stride;
  }
};

struct Space {
  alignas(64) char a[kInt8MaxLaidRows * (kInt8MaxChunkBytes / 2 + 64) + 64];  // gathered rows
  std::int32_t offsets[kInt8MaxSteps];
  Tiles tiles;
};

// Rows lie a line of the cache apart from what would make them fall into the same sets.
std::int64_t gathered_stride(std::int64_t depth) { return depth >= 512 ? depth + 64 : depth; }

}  // namespace

bool Int8Gemm::can_stream(const Int8Rows& rows) const noexcept {
  if (kernels->stream == nullptr || weights.n % kernels->nr != 0 || packing.depth() / (kernels->k_group * kernels->k_step) > kInt8MaxSteps)
    return false;
  if (rows.laying()) return true;
  std::int64_t stride;
  const bool direct = rows.direct(0, 0, stride) != nullptr;  // then the rows of one tile at most, or two, are gathered
  return (direct ? 2 * kTileRows : round_up_to(block_rows, kTileRows)) * gathered_stride(packing.depth()) <=
         static_cast<std::int64_t>(sizeof(Space::a));
}

struct Int8Gemm::StreamBlocking : Int8Blocking {
  std::int64_t images = 1, units, max_units;   // units: what blocks of an image share, at most so many each ...
  std::int64_t unit_rows = 0;             // ... of so many rows; 0: blocks as they are laid

  // The unit at which a block begins.
  std::int64_t begin(std::int64_t index) const {
    const std::int64_t each = blocks / images;
    return index / each * units + index % each * units / each;
  }
  // As many blocks for each worker, at least `min` if there are units enough; 0 if that cannot be.
  std::int64_t shared(std::int64_t min, std::int64_t workers) const {
    const std::int64_t step = workers / std::gcd(images, workers), requested = std::max(ceil_div(min, images), ceil_div(units, max_units));
    const std::int64_t each = std::min(round_up_to(requested, step), units / step * step);
    return each * max_units >= units ? each * images : 0;
  }
};

Int8Gemm::StreamBlocking Int8Gemm::stream_blocking(const Int8Rows& rows, std::int64_t count, bool has_residual,
                                                         std::int64_t workers) const noexcept {
  const Int8Laying* const laying = rows.laying();
  const std::int64_t bytes = packing.columns() * packing.depth(), panels = ceil_div(weights.n, kColumns);
  StreamBlocking blocking{};
  blocking.groups = weights.groups;
  if (laying) {
    blocking.images = std::max(laying->images(), std::int64_t{1});
    blocking.units = laying->blocks() / blocking.images, blocking.max_units = laying->max_blocks();
  } else {
    // Rows that are gathered have to fit the space for that.
    std::int64_t stride;
    const bool direct = rows.direct(0, 0, stride) != nullptr;
    const std::int64_t block = direct ? std::clamp(kMaxBytes / std::max(stride, std::int64_t{1}), kInt8MaxLaidRows, kMaxRows) : block_rows;
    blocking.unit_rows = direct || block_rows % kUnitRows == 0 ? kUnitRows : block_rows;
    blocking.units = ceil_div(count, blocking.unit_rows), blocking.max_units = block / blocking.unit_rows;
  }
  blocking.blocks = ceil_div(blocking.units, blocking.max_units) * blocking.images;
  if (workers > 1) {
    // Either each worker reads all weights, or all rows, much of which others wrote. Laying costs more than reading, but overlaps.
    const std::int64_t taken = count * packing.depth() / (laying ? 2 : 1), made = count * weights.n * (has_residual ? 2 : 1);
    const std::int64_t fine = laying ? laying->blocks() : ceil_div(count, block_rows);
    const std::int64_t blocks = blocking.shared(std::clamp(fine, kBlocksOfWorker * workers, 2 * kBlocksOfWorker * workers), workers);
    if (weights.groups == 1 && Int8Blocking::rows_pay(workers, bytes, taken, made) && blocks > 0) {
      blocking.blocks = blocks, blocking.stretches = workers;
    } else {
      blocking.pieces = ceil_div(kPartsOfWorker * workers, std::max(blocking.blocks * weights.groups, std::int64_t{1}));
    }
  }
  // Other blocks of rows should find a part's weights in the cache.
  if (blocking.blocks > blocking.stretches) blocking.pieces = std::max(blocking.pieces, ceil_div(bytes, kPartBytes));
  blocking.pieces = std::clamp(blocking.pieces, std::int64_t{1}, panels);
  return blocking;
}

void Int8Gemm::stream(const Streaming& call, std::int64_t count, const RunArgs& args) const noexcept {
  const StreamBlocking blocking = stream_blocking(call.rows, count, call.epilogue.residual.data != nullptr, args.parallel->workers());
  const std::int64_t panels = ceil_div(weights.n, kColumns);
  args.parallel->for_each(blocking.count(), [&](std::int64_t i, int worker) {
    const Int8Blocking::Part part = blocking.part(i);
    const std::int64_t begin = blocking.begin(part.block), end = blocking.begin(part.block + 1), row = begin * blocking.unit_rows;
    stream_part(call,
                {.block = begin,
                 .blocks = end - begin,
                 .row = row,
                 .rows = std::min(end * blocking.unit_rows, count) - row,
                 .group = part.group,
                 .first = part.piece * panels / blocking.pieces * kColumns,
                 .last = std::min((part.piece + 1) * panels / blocking.pieces * kColumns, weights.n),
                 .leads = i % blocking.stretch() == 0},
                static_cast<char*>(args.scratch_of(worker)));
  });
}

void Int8Gemm::stream_part(const Streaming& call, const StreamPart& part, char* scratch) const noexcept {
  Space s;
  const std::int64_t columns = weights.n * weights.groups, step = kernels->k_group * kernels->k_step, steps = packing.depth() / step;
  if (const Int8Laying* laying = call.rows.laying()) {
    const Int8Laid laid = laying->lay(part.block, part.blocks, scratch + scratch_bytes(), s.offsets);
    s.tiles.cover(laid, columns);
    s.tiles.place(0, s.tiles.count, laid.first, laid.stride);
  } else {
    const std::int64_t row = part.row, rows = part.rows;
    for (std::int64_t i = 0; i < steps; ++i) s.offsets[i] = static_cast<std::int32_t>(i * step);
    s.tiles.cover({.rows = rows, .line_rows = rows, .line_outputs = rows, .x = 0, .out = row}, columns);
    std::int64_t stride = 0;
    const char* direct = nullptr;
    const std::int64_t whole = direct_rows(call.rows, part.group, row, rows, direct, stride) / kTileRows;
    s.tiles.place(0, whole, direct, stride);
    if (whole < s.tiles.count) {
      const std::int64_t gathered = gathered_stride(packing.depth()), from = whole * kTileRows;
      call.rows.fill(*kernels, part.group, row + from, rows - from, 0, weights.k, s.a, gathered);
      s.tiles.place(whole, s.tiles.count, s.a, gathered);
    }
  }
  const std::int64_t column = part.group * weights.n + part.first;
  Int8EpilogueArgs epilogue = call.epilogue;
  epilogue.scale += column;
  epilogue.bias += column;
  if (epilogue.residual.data) epilogue.residual.data = static_cast<const char*>(epilogue.residual.data) + column;
  kernels->enter(a_signed);
  kernels->stream({.tiles = s.tiles.tiles,
                   .tile_count = s.tiles.count,
                   .line_rows = s.tiles.lines.line_rows,
                   .line_outputs = s.tiles.lines.line_outputs,
                   .row_elements = columns,
                   .offsets = s.offsets,
                   .steps = steps,
                   .b = packing.panel(call.packed, part.group, part.first, 0),
                   .columns = part.last - part.first,
                   .init = call.start ? call.start + part.group * packing.columns() + part.first : nullptr,
                   .is_signed = a_signed,
                   .fetch_ahead = part.leads,
                   .epilogue = epilogue,
                   .out = call.out + column});
  kernels->leave();
}

}  // namespace tenfold::backends::cpu
