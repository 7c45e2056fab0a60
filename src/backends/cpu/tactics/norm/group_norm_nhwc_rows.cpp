// group_norm_nhwc_rows: groups of channels, which lie innermost: sums by channel over stretches of pixels, then results with what follows.
// How an image is cut into stretches follows from its size alone, so that any number of threads adds in the same order.
#include <algorithm>
#include <cmath>

#include "backends/cpu/block/executor.h"
#include "backends/cpu/kernels/norm/norm.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "backends/problems/group_norm_nhwc_problem.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kStretch = 64 << 10, kMaxStretches = 64;   // elements; of an image
constexpr int64_t kColumns = 512, kSideBySide = 64;           // elements that a step of what follows, and of the sums, has at least

// Pixels that are taken for one of more channels, so that loops are long.
int64_t repeats(int64_t channels, int64_t columns) { return std::max<int64_t>(columns / channels, 1); }

// (x - mean) * factor + bias, and what follows: no digits are lost where the mean is large.
ir::Body body_of(const Problem& p) {
  ir::BodyBuilder b({DType::f32, DType::f32, DType::f32, DType::f32});
  const ir::Body norm = b.finish({b.binary(ir::Prim::add, b.binary(ir::Prim::mul, b.binary(ir::Prim::sub, 0, 1), 2), 3)});
  return p.body ? ir::simplify(ir::compose(norm, *p.body, {norm.outputs[0]})) : norm;
}

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = group_norm_nhwc_operands(p); !v) return v;
  if (p.in[0].dtype != DType::f32) return Verdict::no("elements are not f32");
  return BlockExecutor::supports(body_of(p));
}

int64_t stretches_of(int64_t elements) { return std::clamp<int64_t>(ceil_div(elements, kStretch), 1, kMaxStretches); }
// Of any image of this problem.
int64_t max_stretches(const Problem& p) {
  return stretches_of(std::min(p.bounds(ir::product(std::span(p.in[0].dims).subspan(1))).upper, kStretch * kMaxStretches));
}
// Of each image: sums and squares of every stretch, then means, factors and biases, repeated for as many pixels as a step has.
int64_t floats_of_image(int64_t channels, int64_t stretches) {
  return 2 * channels * stretches + 3 * channels * repeats(channels, kColumns);
}
ir::Dim workspace(const Problem& p, const Config&) {
  return p.in[0].dims[0] * ir::Dim(floats_of_image(p.in[0].dims[1].constant(), max_stretches(p)) * int64_t{sizeof(float)});
}
ir::Dim worker_scratch(const Problem& p, const Config&) {
  const int64_t channels = p.in[0].dims[1].constant(), side = channels * repeats(channels, kSideBySide);
  return BlockExecutor(body_of(p), p.device->features).scratch_bytes() + 3 * side * int64_t{sizeof(float)};
}

struct Kernel {
  const NormKernels* kernels;
  BlockExecutor executor;
  int64_t channels, groups, stretches, out_bytes;   // stretches: most of an image
  double epsilon;
};
std::shared_ptr<const void> open(const Problem& p, const Config&, Opening&) {
  return std::make_shared<Kernel>(Kernel{&pick(p, tenfold_norm_avx2, tenfold_norm_avx512), BlockExecutor(body_of(p), p.device->features),
                                         p.in[0].dims[1].constant(), p.attributes->integer("num_groups"), max_stretches(p),
                                         bits(p.out[0].dtype) / 8, static_cast<double>(p.attributes->number("epsilon"))});
}

// One image, its memory and how it is cut.
struct Image {
  const Kernel& k;
  const float *x, *scale, *bias;
  char* y;
  float* sums;                       // [stretch][2][channel]
  float* factors[3];                 // means, factors, biases, each repeated
  int64_t pixels, stretch, stretches;

  // `scratch`: three times as many floats as pixels side by side have. Channels beside each other are added up as they lie.
  void sum(int64_t number, float* scratch) const {
    const int64_t c = k.channels, first = number * stretch, rows = std::min(stretch, pixels - first), many = repeats(c, kSideBySide);
    float *shift = scratch, *s = scratch + many * c, *q = s + many * c;
    for (int64_t i = 0; i < many; ++i) std::copy_n(x, c, shift + i * c);
    float *sum = sums + number * 2 * c, *squares = sum + c;
    std::fill_n(sum, 2 * c, 0.f);
    const auto add = [&](int64_t from, int64_t steps, int64_t wide) {
      if (steps == 0) return;
      k.kernels->column_moments(x + from * c, steps, wide * c, shift, s, q);
      for (int64_t i = 0; i < wide * c; ++i) sum[i % c] += s[i], squares[i % c] += q[i];
    };
    add(first, rows / many, many);
    add(first + rows / many * many, rows % many, 1);
  }

  // Channels of a group are put together by Chan's formula (1979).
  void finish() const {
    const int64_t c = k.channels, each = c / k.groups, many = repeats(c, kColumns);
    float *means = factors[0], *squares = factors[1];  // of channels, for now
    for (int64_t i = 0; i < c; ++i) {
      double s = 0, q = 0;
      for (int64_t n = 0; n < stretches; ++n) s += sums[n * 2 * c + i], q += sums[(n * 2 + 1) * c + i];
      means[i] = static_cast<float>(x[i] + s / pixels), squares[i] = static_cast<float>(std::max(q - s / pixels * s, 0.0));
    }
    for (int64_t first = 0; first < c; first += each) {
      double mean = 0, around = 0;
      for (int64_t i = first; i < first + each; ++i) mean += static_cast<double>(means[i]) / each;
      for (int64_t i = first; i < first + each; ++i) around += squares[i] + pixels * (means[i] - mean) * (means[i] - mean);
      const double inverse = 1 / std::sqrt(around / (static_cast<double>(pixels) * each) + k.epsilon);
      for (int64_t i = first; i < first + each; ++i) {
        factors[0][i] = static_cast<float>(mean);
        factors[1][i] = static_cast<float>(scale[i] * inverse);
        factors[2][i] = bias[i];
      }
    }
    for (float* each_of : factors)
      for (int64_t i = 1; i < many; ++i) std::copy_n(each_of, c, each_of + i * c);
  }

  void apply(int64_t number, void* scratch) const {
    const int64_t c = k.channels, first = number * stretch, rows = std::min(stretch, pixels - first), many = repeats(c, kColumns);
    const auto part = [&](int64_t from, int64_t steps, int64_t wide) {
      if (steps == 0) return;
      const int64_t n = wide * c;
      const TileOperand in[] = {{x + from * c, n, 1}, {factors[0], 0, 1}, {factors[1], 0, 1}, {factors[2], 0, 1}};
      const TileResult out[] = {{y + from * c * k.out_bytes, n, 1}};
      k.executor.run(steps, n, in, out, scratch);
    };
    part(first, rows / many, many);
    part(first + rows / many * many, rows % many, 1);
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const Bound& x = args.in[0];
  const int64_t images = x.dims[0], c = k.channels, pixels = product(x.dims, 2, x.rank);
  if (images * pixels == 0) return Status::ok;
  const int64_t stretch = ceil_div(pixels, stretches_of(pixels * c));
  const int64_t stretches = ceil_div(pixels, stretch), bytes = k.executor.scratch_bytes();
  const auto image = [&](int64_t i) {
    float* memory = static_cast<float*>(args.workspace) + i * floats_of_image(c, k.stretches);
    float* factors = memory + 2 * c * k.stretches;
    const int64_t repeated = c * repeats(c, kColumns);
    return Image{k,
                 x.as<const float>() + i * pixels * c,
                 args.in[1].as<const float>(),
                 args.in[2].as<const float>(),
                 args.out[0].as<char>() + i * pixels * c * k.out_bytes,
                 memory,
                 {factors, factors + repeated, factors + 2 * repeated},
                 pixels,
                 stretch,
                 stretches};
  };
  const auto floats = [&](int worker) { return reinterpret_cast<float*>(static_cast<char*>(args.scratch_of(worker)) + bytes); };
  if (images >= 2 * args.parallel->workers() || args.parallel->workers() == 1) {   // each stays in its worker's cache
    args.parallel->for_each(images, [&](int64_t i, int worker) {
      const Image one = image(i);
      for (int64_t s = 0; s < stretches; ++s) one.sum(s, floats(worker));
      one.finish();
      for (int64_t s = 0; s < stretches; ++s) one.apply(s, args.scratch_of(worker));
    });
    return Status::ok;
  }
  args.parallel->for_each(images * stretches,
                          [&](int64_t part, int worker) { image(part / stretches).sum(part % stretches, floats(worker)); });
  args.parallel->for_each(images, [&](int64_t i, int) { image(i).finish(); });
  args.parallel->for_each(images * stretches,
                          [&](int64_t part, int worker) { image(part / stretches).apply(part % stretches, args.scratch_of(worker)); });
  return Status::ok;
}

// All sums of an image are there before its first result.
bool may_alias(const Problem& p, int in, int out) { return in == 0 && out == 0 && bits(p.out[0].dtype) == 32; }

}  // namespace

Tactic cpu_group_norm_nhwc_rows() {
  return {
      .name = "group_norm_nhwc_rows",
      .ops = {"GroupNormNhwc"},
      .supports = supports,
      .configs = one_config,
      .formats = group_norm_nhwc_formats,
      .workspace = workspace,
      .worker_scratch = worker_scratch,
      .open = open,
      .run = run,
      .may_alias = may_alias,
      .cases = {"GroupNormNhwc f32[2,32,33,29] f32[32] f32[32] num_groups=8",
                "GroupNormNhwc f32[9,24,17,19](9,10) f32[24] f32[24] num_groups=3",
                "GroupNormNhwc f32[1,200,67,61] f32[200] f32[200] num_groups=40", "GroupNormNhwc f32[2,8,9,7,5] f32[8] f32[8] num_groups=8",
                "GroupNormNhwc f32[1,1000,3] f32[1000]! f32[1000]!", "GroupNormNhwc f32[1,16,520,512] f32[16] f32[16] num_groups=2"}};
}

}  // namespace tenfold::backends
