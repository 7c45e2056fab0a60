// The loops that turn f32 weights into fixed point: over rows of finite weights, 16 columns at a time.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct FixedRows {
  // The sum of the squares, as 16 sums of every sixteenth and then these in order. Not finite if a value is not.
  double (*squares)(const float* row, std::int64_t count);
  // step[n] = max(step[n], |row[n]| / balance)
  void (*raise)(const float* row, std::int64_t count, float balance, float* step);
  // Four rows of `lines` times 16 weights, `stride` apart, as integers of 24 bits that lie as FixedWeights::Order::tiles says:
  // to[line] begins (line / 2) * panel + line % 2 * 1024. What a weight is multiplied by: rows[r] * columns[n].
  struct Four {
    const float* from;
    std::int64_t stride, lines, panel;
    const double *rows, *columns;
    int largest;
    char* to;
  };
  void (*bytes)(const Four& four);
};

const FixedRows& portable_fixed_rows();
const FixedRows& fixed_rows();   // this processor's: the same bits

}  // namespace tenfold::backends::cpu
