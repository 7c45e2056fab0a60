// Reading an epilogue for oneDNN.
#include "backends/cpu/tactics/onednn_common.h"

#include "backends/cpu/onednn/library.h"

namespace tenfold::backends::cpu {
namespace {

// The epilogue, if oneDNN can do all of it.
std::optional<SimpleEpilogue> inside(const Problem& problem, int channel_axis, int own_bias) {
  const auto form = simple_epilogue(problem, channel_axis);
  if (!form || form->residual >= 0 || form->low_operand >= 0 || form->high_operand >= 0) return std::nullopt;
  return own_bias >= 0 && form->bias >= 0 ? std::nullopt : form;
}

}  // namespace

Verdict OnednnEnd::supports(const Problem& problem, int channel_axis, int own_bias) {
  if (problem.out.size() != 1 || problem.out[0].dtype != DType::f32) return Verdict::no("the result is not one f32 tensor");
  return inside(problem, channel_axis, own_bias) ? Verdict::ok() : Epilogue::supports(problem);
}

OnednnEnd::OnednnEnd(const Problem& problem, int channel_axis, int own_bias) : bias_(own_bias) {
  const auto form = inside(problem, channel_axis, own_bias);
  after_ = !form;
  if (after_) {
    epilogue_ = Epilogue(problem, DType::f32);
    return;
  }
  if (bias_ < 0) bias_ = form->bias;
  if (form->clamp) clamp_ = onednn::Clamp{form->low, form->high};
}

void OnednnEnd::bind(const RunArgs& args, const TileAxes& axes, Binding& binding) const noexcept {
  if (bias_ >= 0) binding.bias = args.in[static_cast<std::size_t>(bias_)].as<const float>();
  if (after_) epilogue_.bind(args, axes, binding.epilogue);
}

std::vector<Config> onednn_configs(std::int64_t rows, std::int64_t least) {
  std::vector<Config> all;
  for (const std::int64_t parts : {2, 1, 4, 8, 16})
    if (parts == 1 || rows / parts >= least) all.push_back(onednn::stamped(parts));
  return all;
}

}  // namespace tenfold::backends::cpu
