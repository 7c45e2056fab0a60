// conv_winograd: 3x3 and 3x3x3 convolution of stride 1 with fewer multiplications: a tile of results takes one product for each
// position of its patch of the input, 2.25 (2x2), 4 (4x4) or 3.4 (2x2x2) times fewer in all. Blocks of tiles go through all three
// steps while they are in the cache.
#include <cstring>

#include "backends/cpu/gemm/conv/window_rows.h"
#include "backends/cpu/gemm/conv/winograd_tiles.h"
#include "backends/cpu/gemm/f32/gemm_f32.h"
#include "backends/cpu/gemm/heuristics.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }
const WinogradF32Kernels& transforms_of(std::int64_t isa) {
  return isa == kGemmAvx2 ? tenfold_winograd_f32_avx2 : tenfold_winograd_f32_avx512;
}
bool is_volume(const Problem& p) { return p.in[0].dims.size() == 5; }

Verdict supports(const Problem& p) {
  if (const Verdict common = conv_supports(p); !common) return common;
  if (!p.numerics.winograd) return Verdict::no("Winograd's transforms are switched off (--noWinograd)");
  const ConvShape s(p);
  if (p.in[0].dims.size() < 4 || s.kernel != Three{is_volume(p) ? 3 : 1, 3, 3} || s.stride != Three{1, 1, 1} ||
      s.dilation != Three{1, 1, 1} || s.groups != 1)
    return Verdict::no("not a plain 3x3 or 3x3x3 convolution of stride 1");
  if (s.channels < 8 || s.filters < 8) return Verdict::no("too few channels for it to pay");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return F32Epilogue::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

GemmF32Weights weights_of(const ConvShape& s, std::int64_t isa) {
  return {.taps = 1, .k = s.channels, .n = s.filters, .k_block = s.channels, .panel = gemm_f32_kernels(isa).panel};
}
WinogradTiles tiles_of(const Config& c) { return WinogradTiles(static_cast<WinogradForm>(c[3])); }
std::int64_t likely_tiles(const Problem& p, const WinogradTiles& tiles) {
  Three out{1, 1, 1};
  for (std::size_t i = p.out[0].dims.size(), d = 3; i-- > 2;) out[--d] = likely(p, p.out[0].dims[i], 56);
  std::int64_t n = likely(p, p.out[0].dims[0], 1);
  for (const std::int64_t extent : tiles.grid(out)) n = std::min<std::int64_t>(n * extent, 1 << 24);
  return n;
}

// {instruction set, tiles of a block, pieces of its columns, form}: every piece transforms the input again.
std::vector<Config> configs(const Problem& p) {
  const ConvShape s(p);
  const bool shared = conv_work(p) >= 2e7;  // less is some 40 microseconds: handing values to another core costs as much
  std::vector<Config> all;
  const auto offer = [&](std::int64_t isa, WinogradForm form, std::int64_t blocks, std::int64_t pieces) {
    const std::int64_t max = table_rows(1, gemm_f32_kernels(isa).max_rows);
    const Config c{isa, std::clamp<std::int64_t>(ceil_div(likely_tiles(p, WinogradTiles(form)), blocks), 1, max), pieces, form};
    if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
  };
  const auto offer_tiles = [&](std::int64_t isa, const WinogradTiles& form_tiles, WinogradForm form, std::int64_t tiles) {
    const std::int64_t weight_floats = weights_of(s, isa).floats() * form_tiles.matrices();
    const std::int64_t fit = std::max<std::int64_t>(p.device->l2_bytes / (form_tiles.matrices() * (s.channels + s.filters) * 4), 12);
    const auto blocks = [&](std::int64_t max) {
      return std::max<std::int64_t>(ceil_div(tiles, std::max<std::int64_t>(max, 6)), shared && tiles >= 24 ? 2 : 1);
    };
    offer(isa, form, blocks(fit), 1);
    if (!shared && conv_work(p) >= 8e6 && tiles >= 8) offer(isa, form, std::max<std::int64_t>(blocks(fit), 2), 1);
    offer(isa, form, blocks(fit / 2), 1);
    offer(isa, form, blocks(2 * fit), 1);
    if (weight_floats * 4 > p.device->l2_bytes) offer(isa, form, blocks(4 * fit), 1);
    // Cores that keep their half of large weights gain more than small values cost that change hands.
    const bool heavy = weight_floats >= 8 * tiles * form_tiles.results() * (s.channels + s.filters);
    if ((shared || heavy) && ceil_div(tiles, fit) < 4 && weights_of(s, isa).panels() > 1) offer(isa, form, ceil_div(tiles, fit), 2);
    if (!shared || !many_threads()) return;
    for (const std::int64_t parts : {16, 32, 64}) {   // blocks of few tiles read weights more often, pieces transform the input again
      std::int64_t of_rows = parts;
      while (of_rows > 1 && tiles < 6 * of_rows) of_rows /= 2;
      if (const std::int64_t pieces = parts / of_rows; pieces <= std::min<std::int64_t>(weights_of(s, isa).panels(), 8))
        offer(isa, form, of_rows, pieces);
    }
  };
  const auto offer_form = [&](WinogradForm form) {
    const WinogradTiles form_tiles(form);
    const std::int64_t tiles = likely_tiles(p, form_tiles);
    for (const std::int64_t isa : gemm_isas(*p.device, tiles, s.filters)) offer_tiles(isa, form_tiles, form, tiles);
  };
  if (is_volume(p)) return offer_form(kWinograd2x2x2), all;
  offer_form(kWinograd2x2);
  offer_form(kWinograd4x4);
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 4) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[0]); !runs) return runs;
  if (c[3] < 0 || c[3] >= kWinogradForms || (c[3] == kWinograd2x2x2) != is_volume(p))
    return Verdict::no("its form is not one for these dims");
  return Verdict::only_if(c[1] > 0 && c[1] <= table_rows(1, gemm_f32_kernels(c[0]).max_rows) && c[2] > 0 && c[2] <= 64,
                          "its block sizes are out of range");
}

// The transformed weights, and the original ones behind them: rounding cannot be undone.
std::int64_t original_at(const Problem& p, const Config& c) { return tiles_of(c).matrices() * weights_of(ConvShape(p), c[0]).floats(); }
std::int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  const ConvShape s(p);
  return input == 1 ? (original_at(p, c) + s.filters * s.channels * s.taps()) * 4 : -1;
}

void pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed) {
  const ConvShape s(p);
  const GemmF32Weights w = weights_of(s, c[0]);
  const WinogradTiles tiles = tiles_of(c);
  const float* from = constants[1]->data<float>();
  auto* to = static_cast<float*>(packed);
  std::memset(packed, 0, static_cast<std::size_t>(packed_bytes(p, c, input)));
  for (std::int64_t i = 0; i < s.channels; ++i) {
    for (std::int64_t o = 0; o < s.filters; ++o) {  // neighbors in memory, in each matrix
      double values[kWinogradMaxPositions];
      tiles.transform(from + (o * s.channels + i) * s.taps(), values);
      for (std::int64_t m = 0; m < tiles.matrices(); ++m) to[m * w.floats() + w.slot(0, i, o)] = static_cast<float>(values[m]);
    }
  }
  std::memcpy(to + original_at(p, c), from, static_cast<std::size_t>(constants[1]->bytes()));
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  std::memcpy(weight.mutable_raw(), static_cast<const float*>(packed) + original_at(p, c), static_cast<std::size_t>(weight.bytes()));
  return weight;
}

double work(const Problem& p) {   // of its products alone, in the form that has fewest
  const ConvShape s(p);
  const auto products = [&](WinogradForm form) {
    const WinogradTiles tiles(form);
    return static_cast<double>(tiles.matrices() * likely_tiles(p, tiles));
  };
  const double min = is_volume(p) ? products(kWinograd2x2x2) : std::min(products(kWinograd2x2), products(kWinograd4x4));
  return 2.0 * min * static_cast<double>(s.channels * s.filters);
}

struct Kernel {
  const GemmF32Kernels* kernels;
  const WinogradF32Transforms* transforms;
  ConvShape shape, patches;
  WinogradTiles tiles;
  std::int64_t matrices;
  GemmF32Weights weights;
  std::int64_t block, pieces;
  F32Epilogue epilogue;
  std::vector<float> zeros;
  std::int64_t value_floats() const { return matrices * block * (shape.channels + shape.filters); }
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &gemm_f32_kernels(c[0]);
  kernel->transforms = &transforms_of(c[0]).form[c[3]];
  kernel->shape = ConvShape(p);
  kernel->tiles = tiles_of(c);
  kernel->matrices = kernel->tiles.matrices();
  kernel->patches = kernel->tiles.patches(kernel->shape);
  kernel->weights = weights_of(kernel->shape, c[0]);
  kernel->block = c[1], kernel->pieces = c[2];
  kernel->epilogue = F32Epilogue(p, 1, own_bias(p));
  kernel->zeros.assign(static_cast<std::size_t>(kernel->shape.channels), 0.f);
  return kernel;
}

ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const ConvShape s(p);
  return tiles_of(c).matrices() * c[1] * (s.channels + s.filters) * 4 + F32Epilogue(p, 1, own_bias(p)).scratch_bytes();
}

struct BlockRun {
  const Kernel& kernel;
  const RunArgs& args;
  const ConvExtents& extents;  // of the convolution
  const Three& grid;           // of tiles
  const WindowRows& patches;
  const F32Epilogue::Binding& bound;
  std::int64_t first_panel, last_panel;
  std::int64_t column = first_panel * kernel.weights.panel;
  std::int64_t columns = std::min(last_panel * kernel.weights.panel, kernel.shape.filters) - column;

  void all(std::int64_t first, std::int64_t count, float* values, void* scratch) const noexcept {
    float* const sums = values + kernel.matrices * kernel.block * kernel.shape.channels;
    transform_input(first, count, values);
    multiply(count, values, sums);
    for (std::int64_t i = 0; i < count; ++i) write(first + i, sums + i * kernel.shape.filters + column);
    if (!kernel.epilogue.in_registers()) apply_epilogue(first, count, scratch);
  }

  void transform_input(std::int64_t first, std::int64_t count, float* values) const noexcept {
    WindowRows::Cursor cursor(patches, first);
    for (std::int64_t i = 0; i < count; ++i) {
      const float* positions[kWinogradMaxPositions];
      cursor.write(positions, 1);
      kernel.transforms->input(positions, kernel.shape.channels, values + i * kernel.shape.channels, kernel.block * kernel.shape.channels);
    }
  }

  void multiply(std::int64_t count, const float* values, float* sums) const noexcept {
    const ConvShape& s = kernel.shape;
    const float* table[kRowTable];
    fill_table(RowTiles(count, kernel.kernels->max_rows), 1, kernel.kernels->max_rows, table,
               [&](std::int64_t row, const float** entry) { *entry = values + row * s.channels; });
    const F32Epilogue none;
    const F32Epilogue::Binding nothing;
    for (std::int64_t m = 0; m < kernel.matrices; ++m) {
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

  // The result's row of a tile's result (dz, dy, dx), -1 outside.
  std::int64_t row_of(std::int64_t tile, const Three& d) const noexcept {
    const Three &t = kernel.tiles.tile, &out = extents.out;
    const std::int64_t x = tile % grid[2] * t[2] + d[2], y = tile / grid[2] % grid[1] * t[1] + d[1];
    const std::int64_t plane = tile / grid[2] / grid[1], z = plane % grid[0] * t[0] + d[0];
    return x < out[2] && y < out[1] && z < out[0] ? ((plane / grid[0] * out[0] + z) * out[1] + y) * out[2] + x : -1;
  }

  void write(std::int64_t tile, const float* sums) const noexcept {
    const Bound& y = args.out[0];
    const Three& t = kernel.tiles.tile;
    WinogradOutput o{.sums = sums, .step = kernel.block * kernel.shape.filters, .channels = columns};
    for (std::int64_t i = 0; i < kernel.tiles.results(); ++i) {
      const std::int64_t row = row_of(tile, {i / t[2] / t[1], i / t[2] % t[1], i % t[2]});
      if (row < 0) continue;
      o.to[i] = y.as<float>() + row * y.strides[y.rank - 1] + column;
      if (bound.epilogue.residual) o.residual[i] = bound.epilogue.residual + row * bound.epilogue.residual_stride + column;
    }
    const GemmF32EpilogueArgs epilogue = bound.at(0, column);
    if (bound.any) o.epilogue = &epilogue;
    kernel.transforms->output(o);
  }

  // The body over the lines of results that each stretch of neighboring tiles makes.
  void apply_epilogue(std::int64_t first, std::int64_t count, void* scratch) const noexcept {
    const Bound& y = args.out[0];
    const Three& t = kernel.tiles.tile;
    const std::int64_t step = y.strides[y.rank - 1];
    for (std::int64_t tile = first, next; tile < first + count; tile = next) {
      next = std::min(first + count, (tile / grid[2] + 1) * grid[2]);
      const std::int64_t length = std::min((next - tile) * t[2], extents.out[2] - tile % grid[2] * t[2]);
      for (std::int64_t line = 0; line < t[0] * t[1]; ++line)
        if (const std::int64_t row = row_of(tile, {line / t[1], line % t[1], 0}); row >= 0)
          kernel.epilogue.apply(bound, row, length, column, columns, y.as<const float>() + row * step + column, step, scratch);
    }
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvExtents extents(args.in[0], args.out[0]);
  if (extents.rows() == 0) return Status::ok;
  const Three grid = kernel.tiles.grid(extents.out);
  ConvExtents on_grid = extents;
  on_grid.out = grid;
  const WindowRows patches(kernel.patches, on_grid, args.in[0].as<const float>(), kernel.zeros.data());
  F32Epilogue::Binding bound;
  kernel.epilogue.bind(args, TileAxes::channels_last(args.out[0].rank), bound);
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
  return packed_tactic({.name = "conv_winograd", .version = 3, .ops = {"Conv"}, .rounds_f32 = true,
                        .formats = formats, .worker_scratch = worker_scratch,
                        .cases = {"Conv f32[10,12,23,19] f32[48,12,3,3]! f32[48]! pads=[1,1,1,1] "
                                  "numerics={round_to=tf32}"}},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
