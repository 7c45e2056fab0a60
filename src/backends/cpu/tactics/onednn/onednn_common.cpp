// Reading an epilogue for oneDNN; configurations, kernel and run of its products.
#include "backends/cpu/tactics/onednn/onednn_common.h"

#include <atomic>

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

Verdict OnednnEpilogue::supports(const Problem& problem, int channel_axis, int own_bias) {
  if (problem.out.size() != 1 || problem.out[0].dtype != DType::f32) return Verdict::no("the result is not one f32 tensor");
  return inside(problem, channel_axis, own_bias) ? Verdict::ok() : Epilogue::supports(problem);
}

OnednnEpilogue::OnednnEpilogue(const Problem& problem, int channel_axis, int own_bias) : bias_(own_bias) {
  const auto form = inside(problem, channel_axis, own_bias);
  after_ = !form;
  if (after_) {
    epilogue_ = Epilogue(problem, DType::f32);
    return;
  }
  if (bias_ < 0) bias_ = form->bias;
  if (form->clamp) clamp_ = onednn::Clamp{form->low, form->high};
}

void OnednnEpilogue::bind(const RunArgs& args, const TileAxes& axes, Binding& binding) const noexcept {
  if (bias_ >= 0) binding.bias = args.in[static_cast<std::size_t>(bias_)].as<const float>();
  if (after_) epilogue_.bind(args, axes, binding.epilogue);
}

namespace {

constexpr std::int64_t kMaxParts = 16;

OnednnEpilogue epilogue_of(const Problem& p, const OnednnForm& form) { return OnednnEpilogue(p, form.channel_axis, form.own_bias); }

struct Kernel {
  OnednnForm form;
  OnednnEpilogue epilogue;
  std::shared_ptr<const onednn::Product> product;
};

}  // namespace

std::shared_ptr<const onednn::Product> onednn_matmul(const Problem& problem, const OnednnForm& form, std::int64_t parts) {
  thread_local std::string known;
  thread_local std::shared_ptr<const onednn::Product> product;
  std::string key = cat(parts, " ", problem.line());
  if (key != known) {
    known.clear();
    product = form.make(problem, parts, epilogue_of(problem, form));
    known = std::move(key);
  }
  return product;
}

Verdict onednn_supports(const Problem& problem, const OnednnForm& form) {
  if (const Verdict epilogue = OnednnEpilogue::supports(problem, form.channel_axis, form.own_bias); !epilogue) return epilogue;
  return Verdict::only_if(onednn_matmul(problem, form, 1) != nullptr, "oneDNN has no implementation of it");
}

// Numbers of parts worth timing.
std::vector<Config> onednn_configs(const OnednnForm& form) {
  std::vector<Config> all;
  for (const std::int64_t parts : {2, 1, 4, 8, 16})
    if (parts == 1 || form.rows / parts >= form.min_rows) all.push_back(onednn::stamped(parts));
  return all;
}

Verdict onednn_valid(const Problem& problem, const OnednnForm& form, const Config& config) {
  if (const Verdict fits = onednn::stamp_fits(config, std::min(kMaxParts, form.rows)); !fits) return fits;
  return Verdict::only_if(onednn_matmul(problem, form, config[0]) != nullptr, "oneDNN has no implementation of it");
}

Tensor onednn_unpack(const Problem& problem, const OnednnForm& form, const Config& config, const void* packed) {
  Tensor weight(DType::f32, ir::constants(problem.in[1].dims));
  onednn_matmul(problem, form, config[0])->unpack(packed, weight.mutable_data<float>());
  return weight;
}

std::shared_ptr<const void> onednn_open(const Problem& problem, const OnednnForm& form, const Config& config) {
  return std::make_shared<Kernel>(Kernel{form, epilogue_of(problem, form), onednn_matmul(problem, form, config[0])});
}

ir::Dim onednn_scratch(const Problem& problem, const OnednnForm& form, const Config& config) {
  return onednn_matmul(problem, form, config[0])->scratch_bytes() + epilogue_of(problem, form).scratch_bytes();
}

Status::Code onednn_run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const onednn::Product& product = *kernel.product;
  const OnednnForm& form = kernel.form;
  const Bound &x = args.in[0], &y = args.out[0];
  const std::int64_t own_bytes = product.scratch_bytes();
  const auto parts = static_cast<std::int64_t>(product.parts().size());
  OnednnEpilogue::Binding bound;
  kernel.epilogue.bind(args, form.channels_last ? TileAxes::channels_last(y.rank) : TileAxes::last(y.rank), bound);
  std::atomic<Status::Code> status{Status::ok};
  args.parallel->for_each(form.images * parts, [&](std::int64_t i, int worker) noexcept {
    const std::int64_t image = i / parts;
    const onednn::Part& part = product.parts()[static_cast<std::size_t>(i % parts)];
    char* scratch = args.scratch_of<char>(worker);
    float* to = y.as<float>() + image * form.y_image;
    const Status::Code code = product.run(static_cast<std::size_t>(i % parts), x.as<const float>() + image * form.x_image, args.in[1].data,
                                          bound.bias, to, scratch);
    if (code != Status::ok) status = code;
    const std::int64_t first = image * form.rows + part.first;
    kernel.epilogue.apply(bound, first * form.row_positions, (part.last - part.first) * form.row_positions, form.columns,
                          to + part.y_offset, scratch + own_bytes);
  });
  return status;
}

}  // namespace tenfold::backends::cpu
