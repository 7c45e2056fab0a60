// Epilogues that are simple enough for registers; all others go to the block executor.
#pragma once

#include <limits>
#include <optional>

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// (sum + a value per channel + a whole tensor), then clamped. Operands are indices into Problem::in, -1: none.
struct SimpleEpilogue {
  int bias = -1, residual = -1;
  bool clamp = false;
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  int low_operand = -1, high_operand = -1;  // bounds that are scalar operands, applied in this order after low and high
};
// The body in that form, if it is, all of one type; also if there is no body. `channel_axis` counts in the output's dims.
std::optional<SimpleEpilogue> simple_epilogue(const Problem& problem, int channel_axis, DType type = DType::f32);
// Sets the lower or the upper bound where `bound` is closer.
void tighten(float bound, bool lower, float& low, float& high);

}  // namespace tenfold::backends::cpu
