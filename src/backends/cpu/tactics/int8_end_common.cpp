// Int8End: runs what was recognised in one fused kernel, and anything else in the block executor.
#include "backends/cpu/tactics/int8_end_common.h"

#include <algorithm>

namespace tenfold::backends::cpu {

Verdict Int8End::supports(const Problem& problem) { return Epilogue::supports(problem); }

Int8End::Int8End(const Problem& problem, const Int8FinishKernels& kernels, int channel_axis)
    : epilogue_(problem, DType::i32),
      form_(recognise_int8_form(problem, channel_axis)),
      kernels_(&kernels),
      anchor_inputs_(problem.anchor_inputs),
      out_bytes_(bits(problem.out[0].dtype) / 8),
      padded_columns_((problem.out[0].dims[static_cast<std::size_t>(channel_axis)].constant() + 31) / 16 * 16) {
  if (form_ && form_->residual > 0) residual_bytes_ = form_->finish.residual_type == Int8Finish::f32 ? 4 : 1;
}

namespace {

// Combines the terms into one value per column.
template <class Combine>
void gather(const Int8Form::Term* terms, int count, const Bound* operands, std::int64_t columns, float* to, Combine f) {
  for (int t = 0; t < count; ++t) {
    const Bound* operand = terms[t].operand > 0 ? &operands[terms[t].operand - 1] : nullptr;
    bool one = operand == nullptr;
    if (operand) {
      std::int64_t size = 1;
      for (int d = 0; d < operand->rank; ++d) size *= operand->dims[d];
      one = size == 1;
    }
    const float* values = operand ? operand->as<const float>() : &terms[t].value;
    for (std::int64_t j = 0; j < columns; ++j) to[j] = f(to[j], values[one ? 0 : j]);
  }
}

}  // namespace

void Int8End::bind(const RunArgs& args, const TileAxes& axes, std::int64_t columns, Binding& binding) const noexcept {
  binding.columns = columns;
  binding.operands = args.in.data() + anchor_inputs_;
  binding.out = static_cast<char*>(args.out[0].data);
  if (!form_) return epilogue_.bind(args, axes, binding.epilogue);
  auto* at = static_cast<float*>(args.workspace);
  binding.scale = at;
  for (const Int8Form::Affine* part : {&form_->first, &form_->second}) {
    std::fill_n(at, padded_columns_, part->scale_unit);
    gather(part->scales, part->scale_count, binding.operands, columns, at, [](float a, float b) { return a * b; });
    at += padded_columns_;
    std::fill_n(at, padded_columns_, 0.0f);
    gather(part->biases, part->bias_count, binding.operands, columns, at, [](float a, float b) { return a + b; });
    for (std::int64_t j = 0; j < columns; ++j) at[j] *= part->bias_unit;
    at += padded_columns_;
    if (!form_->finish.has_grid) break;
  }
}

void Int8End::apply(const Binding& binding, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                    const std::int32_t* acc, std::int64_t acc_stride, void* scratch) const noexcept {
  if (!form_) return epilogue_.apply(binding.epilogue, row, rows, column, columns, acc, acc_stride, scratch);
  Int8Finish finish = form_->finish;
  finish.scale = binding.scale + column;
  finish.bias = finish.scale + padded_columns_;
  finish.scale2 = finish.bias + padded_columns_;
  finish.bias2 = finish.scale2 + padded_columns_;
  const std::int64_t first = row * binding.columns + column;
  if (form_->residual > 0) {
    finish.residual = static_cast<const char*>(binding.operands[form_->residual - 1].data) + first * residual_bytes_;
    finish.residual_stride = binding.columns;
  }
  kernels_->finish(finish, acc, acc_stride, rows, columns, binding.out + first * out_bytes_, binding.columns);
}

}  // namespace tenfold::backends::cpu
