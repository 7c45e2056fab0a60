// Scales and zero points: one for a tensor, one per slice along an axis, or one per block along an axis.
#pragma once

#include "ir/op_def.h"
#include "ops/real_access.h"

namespace tenfold::ops {

// Throws invalid_model unless operand 1 (scale) and operand 2 (zero point, if there) fit operand 0.
void check_scales(ir::InferCall& call);

// Which scale belongs to element i of operand 0, and which zero point to that scale.
class ScaleIndex {
 public:
  explicit ScaleIndex(const ir::Call& call);
  std::int64_t operator()(std::int64_t i) const {
    if (count_ == 1) return 0;
    const std::int64_t along = i / view_.inner % view_.extent;
    if (block_ == 0) return along;
    return (i / (view_.inner * view_.extent) * blocks_ + along / block_) * view_.inner + i % view_.inner;
  }
  std::int64_t zero(std::int64_t scale) const { return one_zero_ ? 0 : scale; }

 private:
  AxisView view_;
  std::int64_t count_, block_, blocks_ = 1;
  bool one_zero_ = true;
};

struct IntegerRange {
  double low, high;
};
IntegerRange range_of(DType type);

// y = saturate(round_half_even(x / scale) + zero), in float as other runtimes do, so that ties fall the same way; of an integer x, which a
// float might not hold, in double.
inline double saturated(double value, IntegerRange range) {
  return value < range.low ? range.low : value > range.high ? range.high : value == value ? value : 0.0;
}
inline double quantized(float x, float scale, double zero, IntegerRange range) {
  return saturated(static_cast<double>(__builtin_nearbyintf(x / scale)) + zero, range);
}
inline double quantized(double x, float scale, double zero, IntegerRange range) {
  return saturated(__builtin_nearbyint(x / static_cast<double>(scale)) + zero, range);
}

}  // namespace tenfold::ops
