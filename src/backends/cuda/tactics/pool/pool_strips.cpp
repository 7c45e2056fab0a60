// pool_strips: MaxPool and AveragePool in either layout, a thread for some neighboring results.
#include <numeric>

#include "backends/cuda/codegen/pool/pool_strips.h"
#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/copy_common.h"
#include "backends/cuda/tactics/pool/pool_common.h"
#include "base/checked.h"
#include "ir/op_def.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

constexpr int kBytes = 16, kMaxReads = 64, kMaxResults = 16, kMaxHeight = 128;

// Elements of a row that lie at multiples of as many, rows of channels included.
int piece_of(const OperandDesc& o) {
  int piece = kBytes / (bits(o.dtype) / 8);
  const auto fit = [&](ir::Dim d) {
    while (piece > 1 && !d.divisible_by(piece)) piece /= 2;
  };
  fit(o.dims.back());
  for (std::size_t d = 0; d + 1 < o.dims.size() && !o.dense; ++d) fit(o.strides[d]);
  return piece;
}

// Config: results side by side, rows.
PoolStripsProblem problem(const Problem& p, const Config& c) {
  PoolStripsProblem strips;
  strips.pool = pool_problem(p);
  strips.channels_last = p.in[0].layout == kChannelsLast;
  strips.pool.width = static_cast<int>(c[0]), strips.rows = static_cast<int>(c[1]);
  if (strips.channels_last) return strips;
  strips.piece = piece_of(p.in[0]);
  strips.stored = std::gcd(piece_of(p.out[0]), strips.pool.width);
  return strips;
}
// The fewest results side by side whose windows begin at a multiple of 16 bytes of the row, or of as many as its length leaves.
int min_width(const Problem& p) {
  if (p.in[0].layout == kChannelsLast) return pool_channels_side_by_side(p);
  const int piece = piece_of(p.in[0]);
  return piece / static_cast<int>(std::gcd(std::int64_t{piece}, pool_problem(p).stride[2]));
}

Verdict valid(const Problem& p, const Config& c) {
  const bool power = c.size() == 2 && c[0] >= 1 && c[0] <= kMaxResults && (c[0] & (c[0] - 1)) == 0;  // else results end within a word
  if (!power || c[1] < 1 || c[1] > 8) return Verdict::no("not 1, 2, 4, 8 or 16 results by 1 to 8 rows");
  if (p.in[0].layout == kChannelsLast ? c[0] != min_width(p) : c[0] % min_width(p) != 0)
    return Verdict::no("results that are not aligned");
  const PoolProblem window = pool_problem(p);
  if ((c[1] - 1) * window.stride[1] + (window.kernel[1] - 1) * window.dilation[1] + 1 > kMaxHeight)
    return Verdict::no("windows that are higher than 128 rows");  // of which each is code of its own
  return Verdict::only_if(pool_strips_reads(problem(p, c)) <= kMaxReads, "more reads than registers hold");
}

Verdict supports(const Problem& p) {
  if (const Verdict v = pool_supports(p); !v) return v;
  const DType t = p.in[0].dtype;
  const bool bytes = t == DType::u8 || t == DType::i8;
  if (bytes && p.in[0].layout != kChannelsLast) return Verdict::no("bytes in rows of a plane");
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16 && !bytes) return Verdict::no(cat("elements are ", name(t)));
  const PoolProblem window = pool_problem(p);
  if (window.kernel[0] * window.kernel[1] * window.kernel[2] > kMaxReads) return Verdict::no("a window of more than 64 elements");
  const int width = min_width(p);
  if (p.in[0].layout == kChannelsLast) {
    if (p.out[0].layout != kChannelsLast) return Verdict::no("layouts differ");
    if (width * bits(t) < 32) return Verdict::no("channels do not come in vectors");
  } else {
    for (const OperandDesc* o : {&p.in[0], &p.out[0]})
      if (o->layout != kPlain || (!o->dense && o->strides.back() != ir::Dim(1))) return Verdict::no("rows whose elements lie apart");
  }
  return valid(p, {width, 1});
}

std::vector<Config> configs(const Problem& p) {
  const int width = min_width(p);
  const bool flat = p.in[0].dims.size() == 3;
  std::vector<Config> all;
  for (const int rows : {2, 1, 4})
    for (const int times : {1, 2}) {
      const Config c{width * times, rows};
      if ((rows == 1 || !flat) && rows * times < 8 && valid(p, c)) all.push_back(c);
    }
  return all;
}

struct Kernel {
  std::shared_ptr<const LoadedModule> module, singles_module;
  Function strips = nullptr, singles = nullptr;  // the latter for addresses that are not multiples of 16
  int width = 1, rows = 1;
  bool channels_last = false;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening& opening) {
  auto k = std::make_shared<Kernel>();
  const PoolStripsProblem strips = problem(p, c);
  cuda::Device& gpu = device_of(*p.device);
  k->module = gpu.load(generate_pool_strips(strips), opening), k->singles_module = gpu.load(generate_pool(pool_problem(p)), opening);
  k->strips = k->module->function("strips"), k->singles = k->singles_module->function("pool");
  k->width = strips.pool.width, k->rows = strips.rows, k->channels_last = strips.channels_last;
  return k;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& k = *static_cast<const Kernel*>(self);
  const PoolArguments a = pool_arguments(args);
  const auto count = [&](int across, int rows, int channels) {
    return a.batch * ceil_div(a.channels, std::int64_t{channels}) * a.out[0] * ceil_div(a.out[1], std::int64_t{rows}) *
           ceil_div(a.out[2], std::int64_t{across});
  };
  const auto blocks = [](std::int64_t threads, int of_block) { return Grid{ceil_div(threads, std::int64_t{of_block})}; };
  if ((reinterpret_cast<std::uintptr_t>(a.x) | reinterpret_cast<std::uintptr_t>(a.y)) % kBytes != 0)
    return launch(queue_of(args), k.singles, blocks(count(1, 1, 1), kPoolThreads), kPoolThreads, 0, &a, Start::early);
  const std::int64_t threads = k.channels_last ? count(1, k.rows, k.width) : count(k.width, k.rows, 1);
  return launch(queue_of(args), k.strips, blocks(threads, kPoolStripsThreads), kPoolStripsThreads, 0, &a, Start::early);
}

}  // namespace

Tactic cuda_pool_strips() {
  return {.name = "pool_strips",
          .ops = {{"AveragePool", "average_pool_strips"}, {"MaxPool", "max_pool_strips"}},
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .formats = same_layouts,
          .open = open,
          .run = run,
          .cases = {"MaxPool f16[2,64,33,29] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
                    "MaxPool f16[2,3,18,32] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
                    "MaxPool bf16[1,3,17,48] kernel_shape=[3,2] strides=[1,3] dilations=[1,2] pads=[1,1,1,1]",
                    "MaxPool u8[2,32,33,29] kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
                    "MaxPool i8[2,8,17,12] kernel_shape=[2,3] strides=[1,2] pads=[1,1,0,1]",
                    "MaxPool f16[1,16,6,7,16] kernel_shape=[2,2,2] strides=[2,2,2]",
                    "AveragePool f16[2,24,33,29] kernel_shape=[3,2] strides=[1,3] pads=[1,0,1,1] "
                    "count_include_pad=1",
                    "AveragePool f16[1,8,9,24] kernel_shape=[3,3] pads=[1,1,1,1]",
                    "AveragePool bf16[2,3,64] kernel_shape=[4] strides=[4]"}};
}

}  // namespace tenfold::backends
