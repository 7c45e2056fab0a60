// What a Hopper GPU's parts can do, measured: docs/lab/gpu-limits.md.
#pragma once

namespace tenfold::bench {

// Prints a table in Markdown. Throws where there is no such GPU.
void measure_gpu_limits();

}  // namespace tenfold::bench
