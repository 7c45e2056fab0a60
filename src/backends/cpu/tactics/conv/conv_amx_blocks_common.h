// What an AMX convolution reads from its problem, and the blocks that it may be cut into.
#pragma once

#include "backends/cpu/gemm/bf16/gemm_bf16_b.h"
#include "backends/cpu/gemm/conv/bf16_windows.h"

namespace tenfold::backends::cpu {

// Whether every position of the result takes one position of the image, in their order: then it is a product.
bool conv_amx_is_pointwise(const Problem& problem);
Bf16Windows conv_amx_windows(const Problem& problem);
GemmBf16B conv_amx_weights(const Problem& problem);

// {positions or lines of a block, columns of a block, whether panels go round inside, planes of a block, whether those roll}
std::vector<Config> conv_amx_configs(const Problem& problem);
Verdict conv_amx_valid(const Problem& problem, const Config& config);

}  // namespace tenfold::backends::cpu
