// What the files of imaging's C interface share.
#pragma once

#include "c/run/common.h"
#include "tenfold/c/sliding_window.h"
#include "tenfold/sliding_window.h"

struct tenfold_sliding_window {
  tenfold::SlidingWindow windows;
  // What was handed out last.
  tenfold::Shape padded = windows.padded(), pad_before = windows.pad_before(), pad_after = windows.pad_after();
  std::vector<tenfold::Shape> starts = windows.starts();
};

namespace tenfold::c {

// Options as C++ has them; null where the caller may leave them out.
SlidingWindowOptions window_options_of(const tenfold_sliding_window_options* given);
StitchOptions stitch_options_of(const tenfold_stitch_options* given);
SweepOptions sweep_options_of(const tenfold_sweep_options* given);
// The caller's memory, not copied; `what` names it in errors.
Tensor borrowed(const tenfold_tensor_info& given, const std::string& what);
// Calls the functions of a copy of `given`.
MakeSink sinks_of(const tenfold_image_sinks* given);

}  // namespace tenfold::c
