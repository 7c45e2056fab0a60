// conv_winograd: 3x3 convolution of stride 1 by F(2x2, 3x3): 16 products of a quarter of the rows instead of 9 of all of them,
// 2.25 times fewer multiplications. Blocks of 2x2 results go through all three steps while they are in the cache.
#include <cstring>

#include "backends/cpu/gemm/gemm_f32.h"
#include "backends/cpu/gemm/window_rows.h"
#include "backends/cpu/kernels/winograd_f32.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

constexpr std::int64_t kMatrices = 16;
int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }
const WinogradF32Kernels& transforms_of(std::int64_t isa) {
  return isa == kGemmAvx512 ? tenfold_winograd_f32_avx512 : tenfold_winograd_f32_avx2;
}

Verdict supports(const Problem& p) {
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  if (p.in[0].dims.size() != 4 || s.kernel != Three{1, 3, 3} || s.stride != Three{1, 1, 1} || s.dilation != Three{1, 1, 1} || s.groups != 1)
    return Verdict::no("not a plain 3x3 convolution of stride 1");
  if (s.channels < 8 || s.filters < 8) return Verdict::no("too few channels for it to pay");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return F32End::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

GemmF32Weights weights_of(const ConvShape& s, std::int64_t isa) {
  return {.taps = 1, .k = s.channels, .n = s.filters, .k_block = s.channels, .panel = gemm_f32_kernels(isa).panel};
}
std::int64_t even(std::int64_t n) { return (n + 1) / 2; }
std::int64_t tiles_of(const Problem& p) {
  std::int64_t n = likely(p, p.out[0].dims[0], 1);
  for (std::size_t i = 2; i < 4; ++i) n = std::min<std::int64_t>(n * even(likely(p, p.out[0].dims[i], 56)), 1 << 24);
  return n;
}

// {instruction set, 2x2 results of a block, pieces of its columns}: every piece transforms the input again.
std::vector<Config> configs(const Problem& p) {
  const ConvShape s(p);
  const std::int64_t isa = best_gemm_isa(*p.device), tiles = tiles_of(p), row_bytes = kMatrices * (s.channels + s.filters) * 4;
  const std::int64_t fit = std::max<std::int64_t>(p.device->l2_bytes / row_bytes, 12);
  std::vector<Config> all;
  const auto offer = [&](std::int64_t blocks, std::int64_t pieces) {
    const Config c{isa, std::max<std::int64_t>(ceil_div(tiles, blocks), 1), pieces};
    if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  };
  for (const std::int64_t most : {fit, 2 * fit, fit / 2})
    offer(std::max<std::int64_t>(ceil_div(tiles, std::max<std::int64_t>(most, 6)), tiles >= 24 ? 2 : 1), 1);
  if (const std::int64_t blocks = ceil_div(tiles, fit); blocks < 4 && weights_of(s, isa).panels() > 1) offer(blocks, 2), offer(blocks, 4);
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  return Verdict::only_if(c[1] > 0 && c[1] <= table_rows(1, gemm_f32_kernels(c[0]).max_rows) && c[2] > 0 && c[2] <= 64,
                          "its block sizes are out of range");
}

// The transformed weights, and the original ones behind them: rounding cannot be undone.
std::int64_t original_at(const ConvShape& s, std::int64_t isa) { return kMatrices * weights_of(s, isa).floats(); }
std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  const ConvShape s(p);
  return input == 1 ? (original_at(s, c[0]) + s.filters * s.channels * 9) * 4 : -1;
}

// G g G^T, in double: rows g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2.
void transform_filter(const float* g, double (&u)[4][4]) {
  double half[4][3];
  const auto four = [](double a, double b, double c, auto&& put) {
    put(0, a), put(1, (a + b + c) / 2), put(2, (a - b + c) / 2), put(3, c);
  };
  for (int x = 0; x < 3; ++x) four(g[x], g[3 + x], g[6 + x], [&](int i, double v) { half[i][x] = v; });
  for (int y = 0; y < 4; ++y) four(half[y][0], half[y][1], half[y][2], [&](int i, double v) { u[y][i] = v; });
}

void pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed) {
  const ConvShape s(p);
  const GemmF32Weights w = weights_of(s, c[0]);
  const float* from = constants[1]->data<float>();
  auto* to = static_cast<float*>(packed);
  std::memset(packed, 0, static_cast<std::size_t>(packed_bytes(p, c, input)));
  for (std::int64_t o = 0; o < s.filters; ++o) {
    for (std::int64_t i = 0; i < s.channels; ++i) {
      double u[4][4];
      transform_filter(from + (o * s.channels + i) * 9, u);
      for (std::int64_t m = 0; m < kMatrices; ++m) to[m * w.floats() + w.slot(0, i, o)] = static_cast<float>(u[m / 4][m % 4]);
    }
  }
  std::memcpy(to + original_at(s, c[0]), from, static_cast<std::size_t>(constants[1]->bytes()));
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  std::memcpy(weight.mutable_raw(), static_cast<const float*>(packed) + original_at(ConvShape(p), c[0]),
              static_cast<std::size_t>(weight.bytes()));
  return weight;
}

struct Kernel {
  const GemmF32Kernels* kernels;
  const WinogradF32Kernels* transforms;
  ConvShape shape, patches;  // patches: 4x4 positions, every second one
  GemmF32Weights weights;
  std::int64_t block, pieces;
  F32End end;
  std::vector<float> zeros;
  std::int64_t value_floats() const { return kMatrices * block * (shape.channels + shape.filters); }
};

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &gemm_f32_kernels(c[0]);
  kernel->transforms = &transforms_of(c[0]);
  kernel->shape = kernel->patches = ConvShape(p);
  kernel->patches.kernel = {1, 4, 4}, kernel->patches.stride = {1, 2, 2};
  kernel->weights = weights_of(kernel->shape, c[0]);
  kernel->block = c[1], kernel->pieces = c[2];
  kernel->end = F32End(p, 1, own_bias(p));
  kernel->zeros.assign(static_cast<std::size_t>(kernel->shape.channels), 0.f);
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const ConvShape s(p);
  return kMatrices * c[1] * (s.channels + s.filters) * 4 + F32End(p, 1, own_bias(p)).scratch_bytes();
}

struct BlockRun {
  const Kernel& kernel;
  const RunArgs& args;
  const ConvExtents& extents;  // of the convolution
  const Three& grid;           // of 2x2 results
  const WindowRows& patches;
  const F32End::Binding& bound;
  std::int64_t first_panel, last_panel;
  std::int64_t column = first_panel * kernel.weights.panel;
  std::int64_t columns = std::min(last_panel * kernel.weights.panel, kernel.shape.filters) - column;

  void all(std::int64_t first, std::int64_t count, float* values, void* scratch) const noexcept {
    float* const sums = values + kMatrices * kernel.block * kernel.shape.channels;
    transform_input(first, count, values);
    multiply(count, values, sums);
    for (std::int64_t i = 0; i < count; ++i) write(first + i, sums + i * kernel.shape.filters + column);
    if (!kernel.end.in_registers()) finish(first, count, scratch);
  }

  void transform_input(std::int64_t first, std::int64_t count, float* values) const noexcept {
    WindowRows::Cursor cursor(patches, first);
    for (std::int64_t i = 0; i < count; ++i) {
      const float* positions[kMatrices];
      cursor.write(positions, 1);
      kernel.transforms->input(positions, kernel.shape.channels, values + i * kernel.shape.channels, kernel.block * kernel.shape.channels);
    }
  }

  void multiply(std::int64_t count, const float* values, float* sums) const noexcept {
    const ConvShape& s = kernel.shape;
    const float* table[kRowTable];
    fill_table(RowTiles(count, kernel.kernels->max_rows), 1, kernel.kernels->max_rows, table,
               [&](std::int64_t row, const float** entry) { *entry = values + row * s.channels; });
    const F32End none;
    const F32End::Binding nothing;
    for (std::int64_t m = 0; m < kMatrices; ++m) {
      const GemmF32Block block{.table = table,
                               .rows = count,
                               .offset = m * kernel.block * s.channels,
                               .first_panel = first_panel,
                               .last_panel = last_panel,
                               .c = sums + m * kernel.block * s.filters,
                               .c_stride = s.filters};
      gemm_f32_block(*kernel.kernels, kernel.weights, args.in[1].as<const float>() + m * kernel.weights.floats(), block, none, nothing,
                     nullptr);
    }
  }

  std::int64_t row_of(std::int64_t tile, std::int64_t dy, std::int64_t dx) const noexcept {  // of the result, -1 outside
    const std::int64_t x = tile % grid[2] * 2 + dx, y = tile / grid[2] % grid[1] * 2 + dy, n = tile / grid[2] / grid[1];
    return x < extents.out[2] && y < extents.out[1] ? (n * extents.out[1] + y) * extents.out[2] + x : -1;
  }

  void write(std::int64_t tile, const float* sums) const noexcept {
    const Bound& y = args.out[0];
    WinogradOutput o{.sums = sums, .step = kernel.block * kernel.shape.filters, .channels = columns};
    for (int i = 0; i < 4; ++i) {
      const std::int64_t row = row_of(tile, i / 2, i % 2);
      if (row < 0) continue;
      o.to[i] = y.as<float>() + row * y.strides[y.rank - 1] + column;
      if (bound.finish.residual) o.residual[i] = bound.finish.residual + row * bound.finish.residual_stride + column;
    }
    const GemmF32Finish finish = bound.at(0, column);
    if (bound.any) o.finish = &finish;
    kernel.transforms->output(o);
  }

  // The body over the two lines of results that each stretch of neighbouring tiles makes.
  void finish(std::int64_t first, std::int64_t count, void* scratch) const noexcept {
    const Bound& y = args.out[0];
    const std::int64_t step = y.strides[y.rank - 1];
    for (std::int64_t tile = first, next; tile < first + count; tile = next) {
      next = std::min(first + count, (tile / grid[2] + 1) * grid[2]);
      const std::int64_t length = std::min((next - tile) * 2, extents.out[2] - tile % grid[2] * 2);
      for (std::int64_t dy = 0; dy < 2; ++dy)
        if (const std::int64_t row = row_of(tile, dy, 0); row >= 0)
          kernel.end.apply(bound, row, length, column, columns, y.as<const float>() + row * step + column, step, scratch);
    }
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvExtents extents(args.in[0], args.out[0]);
  if (extents.rows() == 0) return Status::ok;
  const Three grid{1, even(extents.out[1]), even(extents.out[2])};
  ConvExtents on_grid = extents;
  on_grid.out = grid;
  const WindowRows patches(kernel.patches, on_grid, args.in[0].as<const float>(), kernel.zeros.data());
  F32End::Binding bound;
  kernel.end.bind(args, TileAxes::channels_last(args.out[0].rank), bound);
  const std::int64_t tiles = on_grid.rows(), blocks = ceil_div(tiles, kernel.block);
  const std::int64_t panels = kernel.weights.panels(), pieces = std::min(kernel.pieces, panels);
  args.parallel->for_each(blocks * pieces, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t i = part / pieces, j = part % pieces, first = i * tiles / blocks;
    auto* const values = args.scratch_of<float>(worker);
    const BlockRun block{kernel, args, extents, grid, patches, bound, j * panels / pieces, (j + 1) * panels / pieces};
    block.all(first, (i + 1) * tiles / blocks - first, values, values + kernel.value_floats());
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_winograd() {
  return {.name = "conv_winograd",
          .version = 2,
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
          .work = conv_work};
}

}  // namespace tenfold::backends
