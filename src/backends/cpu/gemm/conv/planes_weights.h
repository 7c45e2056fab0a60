// Constant weights of convolutions over planes, packed as kernels/conv/planes_f32.h reads them: [group][block of filters][step][filter].
#pragma once

#include <span>

#include "backends/cpu/gemm/conv/conv_shape.h"
#include "backends/cpu/kernels/conv/planes_f32.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

const PlanesF32Kernels& planes_kernels(std::int64_t isa);

inline std::int64_t planes_steps(const ConvShape& s) { return s.depth * s.taps(); }   // of a sum
// The filters of a group are taken by so many at a time, evenly: filters [begin(block), begin(block + 1)).
inline std::int64_t planes_blocks(const ConvShape& s) { return ceil_div(s.width, std::int64_t{kPlanesMaxFilters}); }
inline std::int64_t planes_block_begin(const ConvShape& s, std::int64_t block) { return block * s.width / planes_blocks(s); }

// Functions of a tactic (backends/packed_tactic.h).
std::int64_t planes_packed_bytes(const Problem& p, const Config&, int input);
void planes_pack(const Problem& p, const Config&, int input, std::span<const Tensor* const> constants, void* packed);
Tensor planes_unpack(const Problem& p, const Config&, int input, const void* packed);

}  // namespace tenfold::backends::cpu
