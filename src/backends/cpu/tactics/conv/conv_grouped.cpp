// conv_grouped: channels-last convolution in groups of few channels; vectors along the result's channels hold several groups.
#include "backends/cpu/gemm/conv/window_rows.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/kernels/conv/grouped_f32.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

const GroupedF32Kernels& kernels_of(std::int64_t isa) { return isa == kGemmAvx512 ? tenfold_grouped_f32_avx512 : tenfold_grouped_f32_avx2; }
int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

// How groups share a vector: `groups` of them, their results in its first lanes, their inputs in one vector, too.
struct Sharing {
  std::int64_t lanes, groups, vectors;
  Sharing(const ConvShape& s, std::int64_t isa)
      : lanes(kernels_of(isa).lanes), groups(lanes / std::max(s.width, s.depth)), vectors(groups ? ceil_div(s.groups, groups) : 0) {}
};

Verdict supports(const Problem& p) {
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  if (s.groups == 1 || (s.depth == 1 && s.width == 1)) return Verdict::no("there are no groups, or each is one channel");
  if (Sharing(s, best_gemm_isa(*p.device)).groups == 0) return Verdict::no("a group has more channels than a vector");
  if (s.taps() > kMaxTaps) return Verdict::no("the kernel has too many taps");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return F32Epilogue::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

// {instruction set, positions of a block}
std::vector<Config> configs(const Problem& p) {
  const std::int64_t isa = best_gemm_isa(*p.device), rows = conv_likely_rows(p), max_rows = kernels_of(isa).max_rows;
  std::vector<Config> all;
  for (const std::int64_t parts : {16, 1, 4}) {
    const std::int64_t block = round_up(ceil_div(rows, parts), max_rows);
    const Config c{isa, std::clamp(block, max_rows, table_rows(ConvShape(p).taps(), static_cast<int>(max_rows)))};
    if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 2) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  const ConvShape s(p);
  if (Sharing(s, c[0]).groups == 0) return Verdict::no("a group has more channels than a vector");
  return Verdict::only_if(c[1] > 0 && c[1] <= table_rows(s.taps(), kernels_of(c[0]).max_rows), "its block size is out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  const ConvShape s(p);
  const Sharing share(s, c[0]);
  return input == 1 ? share.vectors * s.taps() * s.depth * share.lanes * 4 : -1;
}

// Calls f(packed element, element of the weight) for all that exist; packed as [vector][tap][depth][lane].
template <class F>
void for_each_weight(const Problem& p, const Config& c, F&& f) {
  const ConvShape s(p);
  const Sharing share(s, c[0]);
  const std::int64_t taps = s.taps(), of_vector = share.groups * s.width;
  std::int64_t from = 0;
  for (std::int64_t o = 0; o < s.filters; ++o)
    for (std::int64_t d = 0; d < s.depth; ++d)
      for (std::int64_t tap = 0; tap < taps; ++tap) f(((o / of_vector * taps + tap) * s.depth + d) * share.lanes + o % of_vector, from++);
}

void pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed) {
  auto* to = static_cast<float*>(packed);
  std::fill_n(to, packed_bytes(p, c, input) / 4, 0.f);
  const float* from = constants[1]->data<float>();
  for_each_weight(p, c, [&](std::int64_t a, std::int64_t b) { to[a] = from[b]; });
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  float* to = weight.mutable_data<float>();
  for_each_weight(p, c, [&](std::int64_t a, std::int64_t b) { to[b] = static_cast<const float*>(packed)[a]; });
  return weight;
}

struct Kernel {
  const GroupedF32Kernels* kernels;
  ConvShape shape;
  Sharing share;
  std::int64_t block_rows;
  F32Epilogue epilogue;
  std::vector<float> zeros;              // a position of padding
  std::vector<std::int32_t> lane_index;  // [depth][lanes]
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const ConvShape s(p);
  auto kernel = std::make_shared<Kernel>(Kernel{&kernels_of(c[0]), s, Sharing(s, c[0]), c[1], F32Epilogue(p, 1, own_bias(p)), {}, {}});
  kernel->zeros.assign(static_cast<std::size_t>(s.channels), 0.f);
  for (std::int64_t d = 0; d < s.depth; ++d)
    for (std::int64_t lane = 0; lane < kernel->share.lanes; ++lane)
      kernel->lane_index.push_back(static_cast<std::int32_t>(lane < kernel->share.groups * s.width ? lane / s.width * s.depth + d : 0));
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config&) { return F32Epilogue(p, 1, own_bias(p)).scratch_bytes(); }

// One tile of positions times all vectors.
void run_tile(const Kernel& kernel, const RunArgs& args, const F32Epilogue::Binding& bound, const float* const* table, std::int64_t row,
              std::int64_t rows) noexcept {
  const ConvShape& s = kernel.shape;
  const Sharing& share = kernel.share;
  const Bound& y = args.out[0];
  GemmF32Tile t;
  t.rows = table, t.taps = s.taps(), t.k = s.depth;
  t.panel = args.in[1].as<const float>();
  t.c_stride = y.strides[y.rank - 1];
  for (std::int64_t group = 0; group < s.groups; group += share.groups, t.panel += t.taps * t.k * share.lanes) {
    const std::int64_t some = std::min(share.groups, s.groups - group), column = group * s.width;
    t.offset = group * s.depth;
    t.c = y.as<float>() + row * t.c_stride + column;
    t.cols = some * s.width;
    GemmF32EpilogueArgs epilogue;
    if (bound.any) epilogue = bound.at(row, column), t.epilogue = &epilogue;
    kernel.kernels->tile[rows - 1](t, {kernel.lane_index.data(), some * s.depth});
  }
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  const ConvExtents extents(x, y);
  if (extents.rows() == 0) return Status::ok;
  const WindowRows windows(kernel.shape, extents, x.as<const float>(), kernel.zeros.data());
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::channels_last(y.rank), bound);
  const int max_rows = kernel.kernels->max_rows;
  for_each_window_block(*args.parallel, windows, extents.rows(), kernel.block_rows, 1, max_rows, [&](const WindowBlock& b, int worker) {
    const RowTiles tiles(b.rows, max_rows);
    for (std::int64_t i = 0; i < tiles.count; ++i)
      run_tile(kernel, args, bound, b.table + i * windows.taps() * max_rows, b.row + tiles.begin(i), tiles.begin(i + 1) - tiles.begin(i));
    if (kernel.epilogue.in_registers()) return;
    const std::int64_t stride = y.strides[y.rank - 1];
    kernel.epilogue.apply(bound, b.row, b.rows, 0, kernel.shape.filters, y.as<const float>() + b.row * stride, stride,
                          args.scratch_of(worker));
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_grouped() {
  return packed_tactic({.name = "conv_grouped", .ops = {"Conv"}, .formats = formats,
                        .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_work});
}

}  // namespace tenfold::backends
