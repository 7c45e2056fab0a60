// A copy by tiles, for operators that permute dims or change layouts.
#pragma once

#include "backends/cuda/tactics/copy_common.h"

namespace tenfold::backends::cuda {

// Whether a copy from `from` to `to`, of the same dims, may go by tiles: any element type of 1 to 8 whole bytes.
Verdict can_tile(const OperandDesc& from, const OperandDesc& to);
std::vector<Config> tile_configs(const Problem& p);
Verdict valid_tiles(const Problem& p, const Config& c);
std::shared_ptr<const void> open_tiles(DType dtype, bool large, const DeviceInfo& device, Opening& opening);
Status::Code run_tiles(const void* opened, const Queue& queue, const Bound& from, const Bound& to) noexcept;

}  // namespace tenfold::backends::cuda
