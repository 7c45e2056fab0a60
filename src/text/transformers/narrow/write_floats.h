// Floats in the type that a folder has.
#pragma once

#include "tenfold/tensor.h"

namespace tenfold::transformers {

// The nearest value of f32, f16 or bf16, as its bits; behind the range of f16: its largest.
std::uint32_t bits_of(float value, DType type);

}  // namespace tenfold::transformers
