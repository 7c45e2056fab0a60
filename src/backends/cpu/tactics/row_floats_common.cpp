// Conversions of rows by the block executor's loops.
#include "backends/cpu/tactics/row_floats_common.h"

namespace tenfold::backends::cpu {

RowFloats::RowFloats(const Problem& problem, DType type) : narrow_(type == DType::bf16) {
  const PointwiseTables tables = PointwiseTables::of(problem.device->features);
  widen_ = tables.cast->bf16_to_f32;
  round_ = tables.f32_to_bf16;
}

}  // namespace tenfold::backends::cpu
