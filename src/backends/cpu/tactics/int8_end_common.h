// Int8End: what follows an int8 product. Bodies of the usual quantised forms run in one fused kernel, any other in the block executor.
#pragma once

#include <optional>

#include "backends/cpu/block/epilogue.h"
#include "backends/cpu/kernels/int8.h"

namespace tenfold::backends::cpu {

// A body of the form   acc -> f32, * scales, + biases, clamp, + residual, clamp, quantise   as far as it is static: which operands
// play which part. Operands are read when the step runs.
struct Int8Form {
  static constexpr int kMaxTerms = 4;
  struct Term { int operand = -1; float value = 1; };   // an operand of the body, one value per column or one in all; or a number
  Term scales[kMaxTerms], biases[kMaxTerms];
  int scale_count = 0, bias_count = 0;
  int residual = -1;                                    // operand of the body
  float unit = 1;                                       // scales and biases are multiplied by it: one over the output's scale
  Int8Finish finish;                                    // the numbers; pointers are filled in per run
};
// Null if the body is not of this form. `channel_axis`: of the output.
std::optional<Int8Form> recognise_int8_form(const Problem& problem, int channel_axis);

inline constexpr std::int64_t kInt8MostColumns = 256;   // of one call of apply()

class Int8End {
 public:
  static Verdict supports(const Problem& problem);
  Int8End() = default;
  Int8End(const Problem& problem, const Int8FinishKernels& kernels, int channel_axis);
  std::int64_t scratch_bytes() const { return form_ ? 0 : epilogue_.scratch_bytes(); }   // per worker

  struct Binding {
    Epilogue::Binding epilogue;
    const Bound* operands = nullptr;    // extra operands: body input i is operands[i - 1]
    char* out = nullptr;
    std::int64_t columns = 0;           // of the whole output
  };
  void bind(const RunArgs& args, const TileAxes& axes, std::int64_t columns, Binding& binding) const noexcept;
  void apply(const Binding& binding, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
             const std::int32_t* acc, std::int64_t acc_stride, void* scratch) const noexcept;

 private:
  Epilogue epilogue_;
  std::optional<Int8Form> form_;
  const Int8FinishKernels* kernels_ = nullptr;
  int anchor_inputs_ = 0, channel_axis_ = 0, out_bytes_ = 4, residual_bytes_ = 4;
};

}  // namespace tenfold::backends::cpu
