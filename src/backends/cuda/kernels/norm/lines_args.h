// What the kernels of lines.cu are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// Element k of line r lies at r / inner * length * inner + r % inner + k * inner. Of the parameters it reads the one at k * step; of
// group_norm_nhwc, whose lines are groups of channels, that of channel r % groups * per_group + k / spatial.
// Typed for the kernel: from casts of void* NVRTC makes other code. The tactic has it of void.
template <class In, class Scale, class Bias, class Out, class Float> struct LineArgumentsOf {
  const In* x;
  const Scale* scale;
  const Bias* bias;
  Out* y;
  Float *mean, *inverse;  // may be null, else for each line
  i64 lines, length, inner, scale_step, bias_step, groups, per_group, spatial;
};
using LineArguments = LineArgumentsOf<void, void, void, void, void>;
static_assert(sizeof(LineArguments) == 112 && TENFOLD_OFFSET(LineArguments, lines) == 48 && TENFOLD_OFFSET(LineArguments, spatial) == 104);

}  // namespace tenfold::backends::cuda
