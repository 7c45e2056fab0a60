// Products of a warpgroup as CUDA C: the instruction wgmma has an operand for each result of a thread, so that functions are printed.
#pragma once

#include <string>

#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

// name(c, a, b, add) for 32 bytes along k: c = a * b, added to c or not; a and b are matrix descriptors (lib/wgmma.cuh).
std::string wgmma_text(const std::string& name, std::int64_t columns, DType a, DType b);
// name(c, a, b, add): the same with a in registers, and rows of b along k; for f16 and bf16.
std::string wgmma_registers_text(const std::string& name, std::int64_t columns, DType type);
// name(c, a, b): a product added to the first `columns` of the `all` columns of c; for f16 and bf16.
std::string wgmma_first_text(const std::string& name, int columns, int all, DType type);

// ARRIVING_LANES of lib/arrivals.cuh: 1, or 32 in tests.
int arriving_lanes() noexcept;
void let_every_lane_arrive(bool yes) noexcept;   // tests: kernels of this process that are printed from now on

}  // namespace tenfold::backends::cuda
