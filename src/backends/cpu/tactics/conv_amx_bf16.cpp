// conv_amx_bf16: channels-last convolution in bf16 with f32 sums. 1x1 convolutions are products of the image's positions; others run
// over a copy of some lines of the image (Bf16Windows).
#include "backends/cpu/gemm/bf16_windows.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

Verdict supports(const Problem& p) {
  if (const Verdict possible = bf16_product(p); !possible) return possible;
  if (const Verdict common = conv_extents_supported(p); !common) return common;
  const ConvShape s(p);
  if (s.taps() > Bf16Windows::kMostTaps) return Verdict::no("the kernel has too many taps");
  if (s.groups > 1) return Verdict::no("it has groups");
  if (!Bf16Windows(s, p.in[0].dtype).fits(1, 1)) return Verdict::no("its windows reach too far to be copied");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return Bf16End::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

// Whether every position of the result takes one position of the image, in their order.
bool pointwise(const Problem& p) {
  const ConvShape s(p);
  const ir::Ints pads = p.attributes->ints("pads", {});
  return s.taps() == 1 && s.stride == Three{1, 1, 1} && std::all_of(pads.begin(), pads.end(), [](std::int64_t v) { return v == 0; }) &&
         uniform_positions(p.in[0]);
}

GemmBf16Weights weights_of(const Problem& p) {
  const ConvShape s(p);
  const Bf16Windows windows(s, p.in[0].dtype);
  return {.taps = windows.taps(), .k = windows.tap_depth(), .n = s.filters, .type = p.in[1].dtype};
}

// {positions of a block, columns of a block, whether panels go round inside, 1}
std::vector<Config> point_configs(const Problem& p) {
  const std::int64_t rows = std::max<std::int64_t>(conv_likely_rows(p), 1), filters = ConvShape(p).filters;
  std::vector<Config> all;
  for (const std::int64_t most : {256, 128, 512, 64})
    for (const std::int64_t pieces : {1, 2, 8})
      for (const std::int64_t inside : {1, 0}) {
        const std::int64_t block = ceil_div(rows, ceil_div(rows, most)), columns = round_up(ceil_div(filters, pieces), 32);
        if (pieces > 1 && (columns >= filters || rows > 4096)) continue;
        if (columns <= 32 && inside == 0) continue;
        const Config c{round_up(block, GemmBf16Kernels::kRows), columns, inside, 1};
        if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
      }
  return all;
}

// {lines of a block, columns of a block, whether panels go round inside, planes of a block}: copies stay in the second cache.
std::vector<Config> window_configs(const Problem& p) {
  constexpr std::int64_t kMostBytes = 1 << 20, kMostRows = 2048;
  const ConvShape s(p);
  const Bf16Windows windows(s, p.in[0].dtype);
  const ir::Dims& y = p.out[0].dims;
  const std::size_t rank = y.size();
  const std::int64_t width = likely(p, y[rank - 1], 56), lines = rank < 4 ? 1 : likely(p, y[rank - 2], 56);
  const std::int64_t planes = (rank < 5 ? 1 : likely(p, y[rank - 3], 16)) * (windows.flat() ? likely(p, y[0], 1) : 1);
  std::vector<Config> all;
  for (const std::int64_t most_planes : {1, 4, 8})
    for (const std::int64_t most : {8, 14, 32, 4, 2}) {
      const std::int64_t deep = std::min(most_planes, planes), block = ceil_div(lines, ceil_div(lines, most));
      const std::int64_t rows = deep * block * width;
      if (!windows.fits(deep, block)) continue;
      if (!all.empty() && (windows.bytes<std::int64_t>(deep, block, width) > kMostBytes || (deep > 1 && rows > kMostRows))) continue;
      for (const std::int64_t pieces : {1, 2, 8})
        for (const std::int64_t inside : {1, 0}) {
          const std::int64_t columns = round_up(ceil_div(s.filters, pieces), 32);
          if ((pieces > 1 && (columns >= s.filters || rows < lines * planes * width / 4)) || (columns <= 32 && inside == 0)) continue;
          const Config c{block, columns, inside, deep};
          if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
        }
    }
  if (all.empty()) all.push_back({1, round_up(s.filters, 32), 1, 1});
  return all;
}

std::vector<Config> configs(const Problem& p) { return pointwise(p) ? point_configs(p) : window_configs(p); }

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4) return Verdict::no("its configuration has another length");
  if (!pointwise(p) &&
      (c[0] <= 0 || c[3] <= 0 || c[0] > 1 << 16 || c[3] > 1 << 10 || !Bf16Windows(ConvShape(p), p.in[0].dtype).fits(c[3], c[0])))
    return Verdict::no("its block is larger than what may be copied");
  if (pointwise(p) && c[0] % GemmBf16Kernels::kRows != 0) return Verdict::no("its block is no whole number of tiles");
  return Verdict::only_if(c[0] > 0 && c[0] <= 1 << 16 && c[1] > 0 && c[1] % 32 == 0 && c[1] < 1 << 30 && c[2] >= 0 && c[2] <= 1 &&
                              c[3] > 0 && c[3] <= 1 << 10,
                          "its block sizes are out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return input == 1 ? weights_of(p).bytes() : -1; }
// The index of a weight in [filter][channel][tap of the kernel].
struct Element {
  Bf16Windows windows;
  std::int64_t filter;
  explicit Element(const Problem& p) : windows(ConvShape(p), p.in[0].dtype), filter(ConvShape(p).depth * ConvShape(p).taps()) {}
  std::int64_t operator()(std::int64_t tap, std::int64_t k, std::int64_t n) const { return n * filter + windows.element(tap, k); }
};
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  pack_bf16(weights_of(p), *constants[1], packed, Element(p));
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  return unpack_bf16(weights_of(p), ir::constants(p.in[1].dims), packed, Element(p));
}

struct Kernel {
  ConvShape shape;
  Bf16Windows windows;
  GemmBf16Weights weights;
  std::int64_t block, cols, planes;
  bool panels_inside, points, copies;
  DType type;
  Bf16End end;
};

bool copies(const Problem& p) { return Bf16Matrix::copies(p.in[0].dtype, weights_of(p).k, true); }

ir::Dim copy_bytes(const Problem& p, const Config& c) {
  if (pointwise(p)) return Bf16Matrix::copy_bytes(weights_of(p), copies(p), c[0]);
  return Bf16Windows(ConvShape(p), p.in[0].dtype).bytes<ir::Dim>(c[3], c[0], p.out[0].dims.back());
}
// The product's scratch comes first: its extent is known.
ir::Dim worker_scratch(const Problem& p, const Config& c) { return copy_bytes(p, c) + gemm_bf16_scratch(Bf16End(p, 1, own_bias(p)), c[1]); }

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  const ConvShape s(p);
  return std::make_shared<Kernel>(Kernel{s, Bf16Windows(s, p.in[0].dtype), weights_of(p), c[0], c[1], c[3], c[2] != 0, pointwise(p),
                                         copies(p), p.in[0].dtype, Bf16End(p, 1, own_bias(p))});
}

// f(which block of rows, first panel, last panel, worker)
template <class F>
void for_each_block(const Kernel& k, const RunArgs& args, std::int64_t blocks, F&& f) noexcept {
  const std::int64_t pieces = ceil_div(k.weights.panels() * 32, k.cols);
  args.parallel->for_each(blocks * pieces, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t j = part % pieces;
    f(part / pieces, j * k.weights.panels() / pieces, (j + 1) * k.weights.panels() / pieces, worker);
  });
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  const ConvExtents extents(x, y);
  const std::int64_t m = extents.rows();
  if (m == 0) return Status::ok;
  Bf16End::Binding bound;
  k.end.bind(args, TileAxes::channels_last(y.rank), y.strides[y.rank - 1], bound);
  const auto multiply = [&](const GemmBf16Rows& rows, std::int64_t first, std::int64_t last, char* scratch) {
    gemm_bf16(k.weights, args.in[1].data, rows, first, last, k.panels_inside, k.end, bound, scratch);
  };
  const std::int64_t end = gemm_bf16_scratch(k.end, k.cols);
  if (k.points) {
    const std::int64_t dims[] = {m}, strides[] = {extents.x_stride[2]};
    const Bound positions{.data = x.data, .dims = dims, .strides = strides, .rank = 1};
    const Bf16Matrix matrix(x.data, k.type, MatrixRows(positions, 0, 1), k.copies);
    for_each_block(k, args, ceil_div(m, k.block), [&](std::int64_t i, std::int64_t first, std::int64_t last, int worker) {
      char* const scratch = args.scratch_of<char>(worker);
      multiply(matrix.rows(k.weights, i * k.block, std::min(k.block, m - i * k.block), scratch + end), first, last, scratch);
    });
    return Status::ok;
  }
  // Planes of all images if windows lie in one, else those of each image.
  const std::int64_t images = k.windows.flat() ? 1 : extents.batch, planes = extents.batch * extents.out[0] / images;
  const std::int64_t blocks = ceil_div(extents.out[1], k.block), stacks = ceil_div(planes, k.planes);
  for_each_block(k, args, images * stacks * blocks, [&](std::int64_t i, std::int64_t first, std::int64_t last, int worker) {
    char* const scratch = args.scratch_of<char>(worker);
    std::int64_t taps[Bf16Windows::kMostTaps];
    const std::int64_t b = i % blocks, stack = i / blocks % stacks, image = i / blocks / stacks;
    const std::int64_t from = b * extents.out[1] / blocks, plane = stack * planes / stacks;
    const Bf16Windows::Lines lines{image * planes + plane, (stack + 1) * planes / stacks - plane, from,
                                   (b + 1) * extents.out[1] / blocks - from};
    GemmBf16Rows rows = k.windows.rows(extents, x.data, lines, scratch + end, taps);
    rows.taps = taps;
    multiply(rows, first, last, scratch);
  });
  return Status::ok;
}

bool may_alias(const Problem& p, int in, int) { return Bf16End(p, 1, own_bias(p)).in_place(in); }

}  // namespace

Tactic cpu_conv_amx_bf16() {
  return {.name = "conv_amx_bf16",
          .version = 5,
          .op = "Conv",
          .supports = supports,
          .configs = configs,
          .valid = valid,
          .formats = formats,
          .worker_scratch = worker_scratch,
          .packed_bytes = packed_bytes,
          .pack = pack,
          .unpack = unpack,
          .open = open,
          .run = run,
          .may_alias = may_alias,
          .work = conv_work};
}

}  // namespace tenfold::backends
