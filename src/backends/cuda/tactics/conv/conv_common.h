// What convolutions on a GPU ask of a problem, and what follows them.
#pragma once

#include "backends/cuda/tactics/gemm/library_epilogue_common.h"

namespace tenfold::backends::cuda {

// Elements from one position of an image to the next where channels are innermost and positions follow each other: of a dense image,
// or of some channels of one; -1 if they do not.
std::int64_t position_pitch(const OperandDesc& o);
bool lies_last(const OperandDesc& o);  // and is dense
// An operand with one value for each channel of a result: [C, 1, 1] or [1, C, 1, 1];
bool is_by_channel(const OperandDesc& o, const ir::Dims& result);
Verdict match_conv_epilogue(const Problem& p, LibraryEpilogue& epilogue);
// Constant weights, explicit pads, x and y in channels-last order (or the same thing as plain), whole operands.
Verdict conv_is_regular(const Problem& p, bool any_pitch = false);  // of the result
// x, y and operands of the result's rank channels-last, all else plain.
std::vector<Formats> conv_formats(const Problem& p);

// Weights as [filter, spatial..., channel], and back; as a Tactic's functions.
std::int64_t conv_weight_bytes(const Problem& p, const Config&, int input);
void pack_conv_weight(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed);
Tensor unpack_conv_weight(const Problem& p, const Config&, int, const void* packed);

}  // namespace tenfold::backends::cuda
