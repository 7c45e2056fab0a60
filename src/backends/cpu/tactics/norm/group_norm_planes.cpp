// group_norm_planes: normalization of groups of channels: moments of the whole group, then one multiply-add for each
// channel.
#include "backends/cpu/kernels/norm/norm.h"
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

using std::int64_t;

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  if (p.in[0].dims.size() < 3) return Verdict::no("no spatial dims");
  for (std::size_t i = 1; i < 3; ++i)
    if (p.in[i].dims.size() != 1 || !(p.in[i].dims[0] == p.in[0].dims[1]))
      return Verdict::no("the scale or bias is not one value for each channel");
  if (p.attributes->has("num_groups")) {
    const int64_t groups = p.attributes->integer("num_groups", 0);
    if (groups < 1 || !p.in[0].dims[1].is_constant() || p.in[0].dims[1].constant() % groups != 0)
      return Verdict::no("channels do not divide into groups");
  }
  return dense_plain_f32(p);
}

struct Kernel {
  const NormKernels* kernels;
  int64_t groups;  // 0: every channel is one
  float epsilon;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{&pick(p, tenfold_norm_avx2, tenfold_norm_avx512),
                                         p.attributes->integer("num_groups", 0),
                                         p.attributes->number("epsilon")});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  const int64_t batch = x.dims[0], channels = x.dims[1], plane = product(x.dims, 2, x.rank);
  if (batch * channels * plane == 0) return Status::ok;
  const int64_t groups = kernel.groups ? kernel.groups : channels, per_group = channels / groups;
  const float *scale = args.in[1].as<const float>(), *bias = args.in[2].as<const float>();
  for_row_parts(*args.parallel, batch * groups, rows_per_part(per_group * plane), [&](int64_t first, int64_t last, int) {
    for (int64_t g = first; g < last; ++g) {
      const float* from = x.as<const float>() + g * per_group * plane;
      float* to = args.out[0].as<float>() + g * per_group * plane;
      float mean, inverse;
      kernel.kernels->moments(from, per_group * plane, kernel.epsilon, &mean, &inverse);
      for (int64_t i = 0; i < per_group; ++i) {
        const int64_t c = g % groups * per_group + i;
        const float a = scale[c] * inverse;
        kernel.kernels->affine(from + i * plane, to + i * plane, plane, a, bias[c] - mean * a);
      }
    }
  });
  return Status::ok;
}

bool may_alias(const Problem&, int in, int out) { return in == 0 && out == 0; }

}  // namespace

Tactic cpu_group_norm_planes() {
  return {.name = "group_norm_planes",
          .ops = {"GroupNormalization", {"InstanceNormalization", "instance_norm_planes"}, {"GroupNormNhwc", "group_norm_nhwc_planes"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .cases = {"InstanceNormalization f32[2,5,33,29] f32[5] f32[5]",
                    "InstanceNormalization f32[1,3,230,200] f32[3] f32[3]",
                    "GroupNormalization f32[2,12,33,29] f32[12] f32[12] num_groups=4"}};
}

}  // namespace tenfold::backends
