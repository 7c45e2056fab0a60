// The lines that every generated kernel starts with, and how element types are written in CUDA C.
#pragma once

#include <string>
#include <string_view>

#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

// Conversions, vectors of elements, arithmetic of bodies and block-wide sums (kernels/lib/). Needs no CUDA header, so it compiles in
// milliseconds.
inline constexpr std::string_view prelude() { return "#include \"backends/cuda/kernels/lib/prelude.cuh\"\n"; }

bool has_c_type(DType dtype);                                  // f32 f64 f16 bf16 f8e4m3fn, integers of 8 to 64 bits, booleans
std::string_view storage_type(DType dtype);                    // as it lies in memory: "unsigned short" for f16
std::string_view compute_type(DType dtype);                    // as it is computed with: "float" for f16
std::string loaded(DType dtype, const std::string& stored);    // an expression: memory form to computing form
std::string stored(DType dtype, const std::string& computed);  // and back, rounded to nearest even

// Puts `to` where `from` stands first; it must be there.
void replace_once(std::string& text, const std::string& from, const std::string& to);

}  // namespace tenfold::backends::cuda
