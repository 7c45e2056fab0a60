// The windows of an image as rows of a matrix: for every output position one pointer per kernel tap.
#pragma once

#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/device_traits.h"

namespace tenfold::backends::cpu {

// Made once per run; taps outside the image point to zeros.
class WindowRows {
 public:
  WindowRows(const ConvShape& shape, const ConvExtents& extents, const float* x, const float* zeros) noexcept;

  std::int64_t taps() const noexcept { return taps_; }
  void mark_padding(const RowTiles& tiles, int max_rows, const float** table) const noexcept;

  // Walks over output positions in order.
  class Cursor {
   public:
    Cursor(const WindowRows& rows, std::int64_t row) noexcept;
    // Writes the position's pointers, `step` entries apart, and goes on to the next.
    void write(const float** entry, std::int64_t step) noexcept {
      if (line_inside_ && out_[2] >= w_.first_inside_ && out_[2] < w_.end_inside_)
        for (std::int64_t tap = 0; tap < w_.taps_; ++tap) entry[tap * step] = corner_ + w_.offset_[tap];
      else
        edges_ = true, write_edge(entry, step);
      advance(1);
    }
    // The same for `count` positions, whose entries are neighbors.
    void write(const float** entry, std::int64_t step, std::int64_t count) noexcept;

    bool edges() const noexcept { return edges_; }  // some window written so far reaches over an edge

   private:
    void write_edge(const float** entry, std::int64_t step) const noexcept;
    void write_edges(const float** entry, std::int64_t step, std::int64_t run) const noexcept;
    bool exists_at(std::size_t d, std::int64_t tap) const noexcept {
      const std::int64_t at = at_[d] + tap * w_.shape_.dilation[d];
      return at >= 0 && at < w_.extents_.in[d];
    }
    void next_line() noexcept;
    void advance(std::int64_t positions) noexcept {  // at most to the end of the line
      at_[2] += positions * w_.shape_.stride[2];
      corner_ += positions * w_.step_;
      if ((out_[2] += positions) == w_.extents_.out[2]) next_line();
    }
    void find() noexcept;
    const WindowRows& w_;
    std::int64_t batch_ = 0;
    Three out_{0, 0, 0}, at_{};        // the position, and where its window begins in the image
    const float* corner_ = nullptr;    // there
    bool line_inside_ = false;         // all lines of the window exist
    bool edges_ = false;
  };

 private:
  ConvShape shape_;
  ConvExtents extents_;
  const float *x_, *zeros_;
  std::int64_t taps_;
  Three reach_{};                   // of the dilated kernel
  std::int64_t step_ = 0;           // elements from a window to the next one in its line
  std::int64_t first_inside_ = 0, end_inside_ = 0;  // positions of a line whose windows are whole
  std::int64_t offset_[kMaxTaps];  // of a tap, in elements from the window's first
};

// Fills a table with the windows of neighboring positions. A tap that all rows of a tile have in the padding gets a null pointer first:
// kernels skip it.
inline void fill_windows(const WindowRows& windows, std::int64_t first, const RowTiles& tiles, int max_rows, const float** table) noexcept {
  WindowRows::Cursor cursor(windows, first);
  for (std::int64_t t = 0, taps = windows.taps(); t < tiles.count; ++t)
    cursor.write(table + t * taps * max_rows, max_rows, tiles.begin(t + 1) - tiles.begin(t));
  if (cursor.edges()) windows.mark_padding(tiles, max_rows, table);
}

// One block of positions: its table of pointers, for f(block, worker). `column` counts the pieces that its columns are cut into.
struct WindowBlock {
  const float* const* table;
  std::int64_t row, rows, column;
};
// The order of a volume's blocks: some neighboring ones in every plane, then the next ones in every plane, so that the second cache still
// holds the planes that a window has in common with the one before it.
struct WindowSlabs {
  std::int64_t planes = 0, blocks = 0, slab = 0;  // blocks in a plane, and how many of them make a slab; no planes: in the order of rows
  std::int64_t block(std::int64_t i) const noexcept {
    if (planes == 0) return i;
    const std::int64_t first = i / (planes * slab) * slab, width = std::min(slab, blocks - first), rest = i - first * planes;
    return rest / width * blocks + first + rest % width;
  }
};
// For blocks of at most `block_rows` positions and a cache of `near_bytes`.
WindowSlabs window_slabs(const ConvShape& shape, const ConvExtents& extents, std::int64_t block_rows, std::int64_t near_bytes) noexcept;

// Cuts all positions into blocks of at most `block_rows`, each `columns` times; every part fills its own table.
template <class F>
void for_each_window_block(Parallel& parallel, const WindowRows& windows, std::int64_t positions, std::int64_t block_rows,
                           std::int64_t columns, int max_rows, F&& f, const WindowSlabs& slabs = {}) noexcept {
  const std::int64_t blocks = slabs.planes > 0 ? slabs.planes * slabs.blocks : (positions + block_rows - 1) / block_rows;
  parallel.for_each(blocks * columns, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t i = slabs.block(part / columns), row = i * positions / blocks, rows = (i + 1) * positions / blocks - row;
    const float* table[kRowTable];
    fill_windows(windows, row, RowTiles(rows, max_rows), max_rows, table);
    f(WindowBlock{table, row, rows, part % columns}, worker);
  });
}

}  // namespace tenfold::backends::cpu
