// Int8Form: the usual epilogue of an int8 product, found in its body.
#pragma once

#include <optional>

#include "backends/cpu/kernels/int8/int8.h"
#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// A body of the form   acc -> f32, (* a scale for each row,) * scales, + biases, (quantize, dequantize, * scales, + biases,) clamp,
// (quantize, dequantize,) + residual, clamp, quantize (, dequantize)   or
// acc -> f32, * scales, + biases, GELU, quantize   as far as it is static: which operands
// play which part. Operands are read when the step runs.
struct Int8Form {
  static constexpr int kMaxTerms = 4;
  struct Term { int operand = -1; float value = 1; };   // an operand of the body, one value per column or one in all; or a number
  struct Affine {
    Term scales[kMaxTerms], biases[kMaxTerms];
    int scale_count = 0, bias_count = 0;
    float scale_unit = 1, bias_unit = 1;                // times all of them
  };
  Affine first, second;                                      // second: of what was rounded to a grid of its own
  int residual = -1;                                         // operand of the body
  int rows = -1;                                             // another one: a factor for each row
  Int8EpilogueArgs epilogue;                                 // the numbers; pointers are filled in per run
};
// Null if the body is not of this form. `channel_axis`: of the output.
std::optional<Int8Form> recognize_int8_form(const Problem& problem, int channel_axis);

}  // namespace tenfold::backends::cpu
