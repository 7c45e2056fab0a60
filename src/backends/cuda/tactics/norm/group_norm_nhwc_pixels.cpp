// group_norm_nhwc_pixels: groups of channels, which lie innermost, in two walks over the pixels: moments, then results
// with what follows them.
#include <algorithm>

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/codegen/norm/group_norm_nhwc.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/elements_common.h"
#include "backends/problems/group_norm_nhwc_problem.h"
#include "base/checked.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;
using std::int64_t;

constexpr int64_t kMaxSplits = 32, kBlocks = 528;   // of an image; and four for each multiprocessor of a large GPU

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }

Verdict supports(const Problem& p) {
  if (Verdict v = group_norm_nhwc_operands(p); !v) return v;
  const DType type = p.in[0].dtype;
  if (!is_half(type) && type != DType::f32) return Verdict::no(cat("elements are ", name(type)));
  if (p.body)
    if (Verdict v = can_print(*p.body); !v) return v;
  if (!has_c_type(p.out[0].dtype)) return Verdict::no(cat("results are ", name(p.out[0].dtype)));
  const int64_t channels = p.in[0].dims[1].constant();
  if (channels % kNormChannelVector != 0) return Verdict::no(cat("C % ", kNormChannelVector, " != 0 (C = ", channels, ")"));
  if (channels > kMaxNormChannels) return Verdict::no(cat("C = ", channels, "; at most ", kMaxNormChannels, " fit"));
  return Verdict::only_if(p.bounds(p.in[0].dims[0]).upper < 1 << 16, "more than 65,535 images");
}

// Images have kBlocks splits in all, and one more each.
ir::Dim workspace(const Problem& p, const Config&) {
  return (p.in[0].dims[0] + ir::Dim(kBlocks)) * ir::Dim(2 * p.in[0].dims[1].constant() * int64_t{sizeof(float)});
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module;
  Function moments[2] = {}, apply[2] = {};   // by vectors, one by one
  int64_t channels = 8;
};

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  GroupNormNhwcProblem norm{.in = p.in[0].dtype, .out = p.out[0].dtype};
  norm.channels = p.in[0].dims[1].constant(), norm.groups = p.attributes->integer("num_groups");
  norm.epsilon = static_cast<double>(p.attributes->number("epsilon"));
  if (p.body) norm.body = *p.body;
  auto k = std::make_shared<Kernel>();
  k->channels = norm.channels;
  k->module = device_of(*p.device).load(generate_group_norm_nhwc(norm), opening);
  k->moments[0] = k->module->function("moments_vectors"), k->moments[1] = k->module->function("moments_singles");
  k->apply[0] = k->module->function("apply_vectors"), k->apply[1] = k->module->function("apply_singles");
  return k;
}

// Pixels of a block, so that there are blocks enough, and each has some for every thread.
int64_t pixels_of_block(int64_t images, int64_t pixels, int64_t channels, int64_t max_blocks) noexcept {
  const int64_t rows = std::max<int64_t>(kGroupNormNhwcThreads / (channels / kNormChannelVector), 1);
  const int64_t requested = std::clamp<int64_t>(ceil_div(kBlocks, images), 1, max_blocks);
  return std::max(ceil_div(pixels, requested), std::min(pixels, 4 * rows));
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  const int64_t images = x.dims[0];
  int64_t pixels = 1;
  for (int d = 2; d < x.rank; ++d) pixels *= x.dims[d];
  if (images == 0 || pixels == 0) return Status::ok;
  GroupNormNhwcArguments a{x.data, args.in[1].data, args.in[2].data, args.out[0].data, static_cast<float*>(args.workspace), pixels, 1, 1,
                           1};
  a.split = pixels_of_block(images, pixels, k.channels, kMaxSplits);
  a.splits = ceil_div(pixels, a.split);
  a.part = pixels_of_block(images, pixels, k.channels, pixels);
  const bool odd = (reinterpret_cast<std::uintptr_t>(a.x) | reinterpret_cast<std::uintptr_t>(a.y)) % 16 != 0;
  const Status::Code code = launch(queue_of(args), k.moments[odd], {a.splits, images}, kGroupNormNhwcThreads, 0, &a, Start::early);
  if (code != Status::ok) return code;
  return launch(queue_of(args), k.apply[odd], {ceil_div(pixels, a.part), images}, kGroupNormNhwcThreads, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_group_norm_nhwc_pixels() {
  return {.name = "group_norm_nhwc_pixels",
          .ops = {"GroupNormNhwc"},
          .supports = supports,
          .configs = one_config,
          .formats = group_norm_nhwc_formats,
          .workspace = workspace,
          .open = open,
          .run = run,
          .cases = {"GroupNormNhwc f16[2,32,33,29] f16[32] f16[32] num_groups=8",
                    "GroupNormNhwc f16[1,256,17,19](90,91) f16[256] f16[256] num_groups=32",
                    "GroupNormNhwc bf16[3,2048,5] bf16[2048] bf16[2048]", "GroupNormNhwc f16[2,40,9,7,5] f16[40] f16[40] num_groups=40",
                    "GroupNormNhwc f16[70,24,6,5] f16[24] f16[24] num_groups=3"}};
}

}  // namespace tenfold::backends
