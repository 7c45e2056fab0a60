// Epilogues of products of f32.
#include "backends/cpu/gemm/f32/f32_epilogue.h"

namespace tenfold::backends::cpu {

Verdict F32Epilogue::supports(const Problem& problem, int channel_axis, int own_bias) {
  if (problem.out[0].dtype != DType::f32) return Verdict::no("the result is not f32");
  const auto form = simple_epilogue(problem, channel_axis);
  if (form && (own_bias < 0 || form->bias < 0)) return Verdict::ok();
  return Epilogue::supports(problem);
}

F32Epilogue::F32Epilogue(const Problem& problem, int channel_axis, int own_bias) : own_bias_(own_bias) {
  const auto form = simple_epilogue(problem, channel_axis);
  simple_ = form && (own_bias < 0 || form->bias < 0);
  if (simple_)
    form_ = *form;
  else
    general_ = Epilogue(problem, DType::f32);
}

void F32Epilogue::bind(const RunArgs& args, const TileAxes& axes, Binding& binding) const noexcept {
  const auto data = [&](int index) { return index < 0 ? nullptr : args.in[static_cast<std::size_t>(index)].as<const float>(); };
  GemmF32EpilogueArgs& f = binding.epilogue;
  f.bias = own_bias_ >= 0 ? data(own_bias_) : data(form_.bias);
  f.residual = data(form_.residual);
  if (f.residual) f.residual_stride = args.in[static_cast<std::size_t>(form_.residual)].dims[axes.cols[0]];  // it is dense
  f.clamp = form_.clamp;
  f.low = form_.low, f.high = form_.high;
  if (form_.low_operand >= 0) tighten(*data(form_.low_operand), true, f.low, f.high);
  if (form_.high_operand >= 0) tighten(*data(form_.high_operand), false, f.low, f.high);
  binding.any = f.bias || f.residual || f.clamp;
  if (!simple_) general_.bind(args, axes, binding.general.emplace());
}

}  // namespace tenfold::backends::cpu
