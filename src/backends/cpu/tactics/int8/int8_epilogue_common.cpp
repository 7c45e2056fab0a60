// Int8Epilogue: runs what was recognized in one fused kernel, and anything else in the block executor.
#include "backends/cpu/tactics/int8/int8_epilogue_common.h"

#include <algorithm>
#include <cmath>

namespace tenfold::backends::cpu {

Verdict Int8Epilogue::supports(const Problem& problem) { return Epilogue::supports(problem); }

Int8Epilogue::Int8Epilogue(const Problem& problem, const Int8EpilogueKernels& kernels, int channel_axis)
    : epilogue_(problem, DType::i32),
      form_(recognize_int8_form(problem, channel_axis)),
      kernels_(&kernels),
      anchor_inputs_(problem.anchor_inputs),
      out_bytes_(bits(problem.out[0].dtype) / 8),
      padded_columns_((problem.out[0].dims[static_cast<std::size_t>(channel_axis)].constant() + 31) / 16 * 16) {
  if (form_ && form_->residual > 0) residual_bytes_ = form_->epilogue.residual.type == Int8Type::f32 ? 4 : 1;
}

namespace {

// Combines the terms into one value per column.
void gather(const Int8EpilogueKernels& kernels, bool multiply, const Int8Form::Term* terms, int count, const Bound* operands,
            std::int64_t columns, float* to) {
  for (int t = 0; t < count; ++t) {
    const Bound* operand = terms[t].operand > 0 ? &operands[terms[t].operand - 1] : nullptr;
    std::int64_t size = 1;
    for (int d = 0; operand && d < operand->rank; ++d) size *= operand->dims[d];
    kernels.combine(multiply, operand ? operand->as<const float>() : &terms[t].value, size == 1 ? 0 : 1, columns, to);
  }
}

// Limits that together keep 32-bit accumulators within 32 bits all the way, whatever they hold.
constexpr float kScale = 0.5f, kBias = 1 << 29, kGridScale = 1 << 19;

bool small_numbers(const Int8EpilogueArgs& f) {
  const auto small = [](Int8Range r) { return !r.there() || (r.low <= kBias && r.high >= -kBias); };
  return small(f.clamp) && small(f.result.clamp) && std::abs(f.middle_scale) <= kGridScale &&
         std::abs(f.residual.scale) <= kGridScale;
}

}  // namespace

void Int8Epilogue::bind(const RunArgs& args, const TileAxes& axes, std::int64_t columns, Binding& binding) const noexcept {
  binding.columns = columns;
  binding.operands = args.in.data() + anchor_inputs_;
  binding.out = static_cast<char*>(args.out[0].data);
  if (!form_) return epilogue_.bind(args, axes, binding.epilogue);
  auto* at = static_cast<float*>(args.workspace);
  binding.scale = at;
  for (const Int8Form::Affine* part : {&form_->first, &form_->second}) {
    std::fill_n(at, padded_columns_, part->scale_unit);
    gather(*kernels_, true, part->scales, part->scale_count, binding.operands, columns, at);
    at += padded_columns_;
    std::fill_n(at, padded_columns_, 0.0f);
    gather(*kernels_, false, part->biases, part->bias_count, binding.operands, columns, at);
    kernels_->combine(true, &part->bias_unit, 0, columns, at);
    at += padded_columns_;
    if (!form_->epilogue.has_grid) break;
  }
  const bool float_residual = form_->residual > 0 && form_->epilogue.residual.type == Int8Type::f32;
  const auto small = [&](const float* scales, float limit) {
    return kernels_->within(scales, limit, columns) && kernels_->within(scales + padded_columns_, kBias, columns);
  };
  binding.small = !float_residual && small_numbers(form_->epilogue) && small(binding.scale, kScale) &&
                  (!form_->epilogue.has_grid || small(binding.scale + 2 * padded_columns_, kGridScale));
}

Int8EpilogueArgs Int8Epilogue::args_of(const Binding& binding, std::int64_t column) const noexcept {
  Int8EpilogueArgs epilogue = form_->epilogue;
  epilogue.scale = binding.scale + column;
  epilogue.bias = epilogue.scale + padded_columns_;
  epilogue.grid.scale = epilogue.bias + padded_columns_;
  epilogue.grid.bias = epilogue.grid.scale + padded_columns_;
  epilogue.result.small = binding.small;
  return epilogue;
}

std::optional<Int8EpilogueArgs> Int8Epilogue::bytes(const Binding& binding, std::int64_t column) const noexcept {
  if (!form_ || form_->rows > 0 || !binding.small) return {};   // small: so a residual is one of bytes
  const Int8EpilogueArgs& f = form_->epilogue;
  const bool residual = form_->residual > 0;
  if (f.result.type == Int8Type::f32 || f.gelu_scale != 0 || f.has_grid || (f.middle_scale != 0 && !residual) || f.clamp.there()) return {};
  Int8EpilogueArgs epilogue = args_of(binding, column);
  if (residual) epilogue.residual.data = static_cast<const char*>(binding.operands[form_->residual - 1].data) + column;
  if (f.result.clamp.there()) {   // within what bytes can say, so that bounds fit 16 bits
    const float bottom = (f.result.type == Int8Type::i8 ? -128.0f : 0.0f) - f.result.zero;
    epilogue.result.clamp.low = std::clamp(f.result.clamp.low, bottom, bottom + 255);
    epilogue.result.clamp.high = std::clamp(f.result.clamp.high, bottom, bottom + 255);
  }
  return epilogue;
}

std::optional<Int8EpilogueArgs> Int8Epilogue::plain_bytes(const Binding& binding, std::int64_t column) const noexcept {
  if (form_ && form_->residual > 0) return {};
  return bytes(binding, column);
}

void Int8Epilogue::fetch(const Binding& binding, std::int64_t row, std::int64_t rows, std::int64_t column,
                         std::int64_t columns) const noexcept {
  if (!form_ || out_bytes_ != 1) return;
  const std::int64_t first = row * binding.columns + column;
  const auto lines = [&](const char* at) {
    for (std::int64_t r = 0; r < rows; ++r, at += binding.columns)
      for (std::int64_t j = 0; j < columns; j += 64) __builtin_prefetch(at + j);
  };
  const char* const residual = form_->residual > 0 ? static_cast<const char*>(binding.operands[form_->residual - 1].data) : nullptr;
  if (residual && residual_bytes_ == 1) lines(residual + first);
  if (residual != binding.out) lines(binding.out + first);
}

void Int8Epilogue::apply(const Binding& binding, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                         const std::int32_t* acc, std::int64_t acc_stride, void* scratch) const noexcept {
  if (!form_) return epilogue_.apply(binding.epilogue, row, rows, column, columns, acc, acc_stride, scratch);
  Int8EpilogueArgs epilogue = args_of(binding, column);
  const std::int64_t first = row * binding.columns + column;
  if (form_->residual > 0) {
    epilogue.residual.data = static_cast<const char*>(binding.operands[form_->residual - 1].data) + first * residual_bytes_;
    epilogue.residual.stride = binding.columns;
  }
  if (form_->rows > 0) epilogue.rows = binding.operands[form_->rows - 1].as<const float>() + row;
  kernels_->epilogue(epilogue, acc, acc_stride, rows, columns, binding.out + first * out_bytes_, binding.columns);
}

}  // namespace tenfold::backends::cpu
