// Launching a kernel whose only parameter is one structure.
#pragma once

#include "backends/cuda/device/queue.h"

namespace tenfold::backends::cuda {

struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

// `early`: the kernel's first line is enter() (codegen/prelude.cpp), so it may start before the one ahead of it has ended: a third
// less from one small kernel to the next. Without that line it would read what is not written yet.
enum class Start { after, early };

Status::Code launch(const Queue& queue, Function function, Grid grid, unsigned threads, unsigned shared_bytes, const void* argument,
                    Start start = Start::after) noexcept;

}  // namespace tenfold::backends::cuda
