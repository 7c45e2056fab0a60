// Int8Epilogue: what follows an int8 product. Bodies of the usual quantized forms run in one fused kernel, any other in the block executor.
#pragma once

#include "backends/cpu/block/epilogue.h"
#include "backends/cpu/tactics/int8/int8_form_common.h"

namespace tenfold::backends::cpu {

inline constexpr std::int64_t kInt8MaxEpilogueColumns = 256;   // of one call of apply()

class Int8Epilogue {
 public:
  static Verdict supports(const Problem& problem);
  Int8Epilogue() = default;
  Int8Epilogue(const Problem& problem, const Int8EpilogueKernels& kernels, int channel_axis);
  // Whether the result may take the memory of the problem's operand `in`: a residual, of which each element is read where its result
  // is stored.
  bool in_place(int in) const {
    return form_ && form_->residual > 0 && in == anchor_inputs_ + form_->residual - 1 && residual_bytes_ == out_bytes_;
  }
  const Int8EpilogueKernels& kernels() const { return *kernels_; }
  std::int64_t workspace_bytes() const { return form_ ? 4 * padded_columns_ * 4 : 0; }   // scales and biases of all columns
  std::int64_t scratch_bytes() const { return form_ ? 0 : epilogue_.scratch_bytes(); }   // per worker

  struct Binding {
    Epilogue::Binding epilogue;
    const Bound* operands = nullptr;    // extra operands: body input i is operands[i - 1]
    char* out = nullptr;
    std::int64_t columns = 0;           // of the whole output
    const float* scale = nullptr;       // of all columns, followed by their biases
    bool small = false;                 // Int8Result::small
  };
  void bind(const RunArgs& args, const TileAxes& axes, std::int64_t columns, Binding& binding) const noexcept;
  // For kernels that compute it themselves: what they need if results are bytes of small values, scaled, shifted, clamped, perhaps with a
  // residual of bytes, before which they may lie on a grid; from `column` and the first row on.
  std::optional<Int8EpilogueArgs> bytes(const Binding& binding, std::int64_t column) const noexcept;
  // The same without a residual.
  std::optional<Int8EpilogueArgs> plain_bytes(const Binding& binding, std::int64_t column) const noexcept;
  // Asks for what apply() will read and write beside the sums: lines of rows that lie apart, which come too late otherwise.
  void fetch(const Binding& binding, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) const noexcept;
  void apply(const Binding& binding, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
             const std::int32_t* acc, std::int64_t acc_stride, void* scratch) const noexcept;

 private:
  Epilogue epilogue_;
  std::optional<Int8Form> form_;
  Int8EpilogueArgs args_of(const Binding& binding, std::int64_t column) const noexcept;
  const Int8EpilogueKernels* kernels_ = nullptr;
  int anchor_inputs_ = 0, out_bytes_ = 4, residual_bytes_ = 4;
  std::int64_t padded_columns_ = 0;
};

}  // namespace tenfold::backends::cpu
