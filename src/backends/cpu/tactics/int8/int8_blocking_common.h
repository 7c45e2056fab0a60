// How the blocks of an int8 product are shared out: blocks of rows times pieces of the columns, for each group.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

// Parts follow each other so that a worker's neighboring ones (ThreadPool) are some columns of all rows or, in stretches, all columns of
// neighboring rows, which then lie in its cache for the next product of the network, too.
struct Int8Blocking {
  std::int64_t blocks, groups = 1, pieces = 1, stretches = 1;   // stretches: of blocks, as many each; with groups there is one

  struct Part {
    std::int64_t block, group, piece;
  };
  std::int64_t count() const noexcept { return blocks * groups * pieces; }
  std::int64_t stretch() const noexcept { return blocks / stretches; }
  Part part(std::int64_t i) const noexcept {
    const std::int64_t turn = i / stretch(), whole = turn / pieces;
    return {i % stretch() + (stretches > 1 ? whole * stretch() : 0), stretches > 1 ? 0 : whole, turn % pieces};
  }
  // Bytes that each worker reads: all weights for its own rows, or all rows, much of which others wrote, for its own columns.
  static bool rows_pay(std::int64_t workers, std::int64_t weights, std::int64_t taken, std::int64_t made) noexcept {
    return (workers - 1) * weights <= (2 * workers - 1) * taken + made;
  }
};

}  // namespace tenfold::backends::cpu
