// Launching a kernel whose only parameter is one structure.
#pragma once

#include "backends/cuda/device/queue.h"

namespace tenfold::backends::cuda {

// Blocks along each axis, of which a device takes 2^31 - 1, 65,535 and 65,535; more makes a launch fail, and runs nothing.
struct Grid {
  std::int64_t x = 1, y = 1, z = 1;
  bool fits() const { return x < std::int64_t{1} << 31 && y < 1 << 16 && z < 1 << 16; }
};

// `early`: the kernel's first line is enter() (kernels/lib/launch.cuh), so it may start before the one ahead of it has ended: a third
// less from one small kernel to the next. Without that line it would read what is not written yet.
enum class Start { after, early };
// Between kernels that keep the whole GPU busy for long an early start costs more than it saves: BERT at batch 128 takes 1.5 % less
// without. `bytes`: what the kernel reads and writes, about.
inline Start start_for(std::int64_t bytes) {
  constexpr std::int64_t kMany = 64 << 20;
  return bytes < kMany ? Start::early : Start::after;
}

Status::Code launch(const Queue& queue, Function function, Grid grid, unsigned threads, unsigned shared_bytes, const void* argument,
                    Start start = Start::after) noexcept;

}  // namespace tenfold::backends::cuda
