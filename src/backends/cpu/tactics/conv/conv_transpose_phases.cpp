// conv_transpose_phases: any transposed convolution with constant weights: a convolution for each phase of the strides, or GEMMs whose
// columns are several phases, put into their places in the result.
#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cpu/gemm/conv/conv_phases.h"
#include "backends/cpu/gemm/conv/window_rows.h"
#include "backends/packed_tactic.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

constexpr int64_t kMaxRows = 1 << 12;  // positions of a block

// {instruction set, dims whose phases are columns, positions of a block, depth of a block}
enum : std::size_t { kIsa, kMerged, kRows, kDepth, kNumbers };

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }
// Whether what follows the sums depends on their channels alone, and so is the same for all phases.
bool in_registers(const Problem& p) {
  const auto form = simple_epilogue(p, 1);
  return form && form->residual < 0 && (own_bias(p) < 0 || form->bias < 0);
}

Verdict supports(const Problem& p) {
  if (p.in[0].dtype != DType::f32 || p.in[1].dtype != DType::f32) return Verdict::no("operands are not f32");
  if (p.out[0].dtype != DType::f32) return Verdict::no("the result is not f32");
  if (const Verdict common = conv_phases_supported(p); !common) return common;
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return in_registers(p) ? Verdict::ok() : Epilogue::supports(p);
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

int64_t max_rows(const ConvPhases& phases, const Config& c) {
  return std::min(kMaxRows, table_rows(phases.max_taps(), gemm_f32_kernels(c[kIsa]).max_rows));
}

// The two cheapest choices of merged dims: the innermost ones, for their phases lie side by side in the result.
std::vector<int64_t> merges(const Problem& p) {
  const int64_t lanes = best_gemm_isa(*p.device) == kGemmAvx512 ? 16 : 8;
  std::vector<std::pair<double, int64_t>> all;
  for (const int64_t merged : {0, 4, 6, 7}) {
    const ConvPhases phases(p, merged);
    if (phases.max_taps() > kMaxTaps) continue;
    const auto same = [&](const auto& other) { return ConvPhases(p, other.second).columns() == phases.columns(); };
    if (std::none_of(all.begin(), all.end(), same)) all.emplace_back(phases.cost(lanes), merged);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int64_t> best;
  for (std::size_t i = 0; i < all.size() && (i == 0 || (i == 1 && all[1].first < 1.6 * all[0].first)); ++i) best.push_back(all[i].second);
  return best;
}

std::vector<Config> configs(const Problem& p) {
  std::vector<Config> all;
  const ConvPhases plain(p, 0);
  Three scale = plain.stride();
  const int64_t rows = ceil_div(conv_likely_rows(p), scale[0] * scale[1] * scale[2]);
  for (const int64_t merged : merges(p)) {
    const ConvPhases phases(p, merged);
    for (const int64_t isa : gemm_isas(*p.device, rows, phases.width())) {
      const GemmF32Kernels& kernels = gemm_f32_kernels(isa);
      const int64_t near = std::max<int64_t>(p.device->l1_bytes * 3 / 4 / (4 * kernels.panel * phases.max_taps()), 4);
      for (const int64_t parts : {16, 4, 64}) {
        for (const int64_t depth : {phases.transposed().depth, std::min(phases.transposed().depth, near)}) {
          Config c{isa, merged, 0, depth};
          c[kRows] = std::min(max_rows(phases, c), round_up(ceil_div(std::max<int64_t>(rows, 1), parts), kernels.max_rows));
          if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
        }
      }
    }
  }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != kNumbers) return Verdict::no("its configuration has another length");
  if (const Verdict runs = gemm_isa_runs(*p.device, c[kIsa]); !runs) return runs;
  if (c[kMerged] < 0 || c[kMerged] > 7) return Verdict::no("it merges dims that do not exist");
  const ConvPhases phases(p, c[kMerged]);
  if (phases.max_taps() > kMaxTaps) return Verdict::no("its windows have too many taps");
  return Verdict::only_if(c[kRows] > 0 && c[kRows] <= max_rows(phases, c) && c[kDepth] > 0 && c[kDepth] < 1 << 30,
                          "its block sizes are out of range");
}

int64_t packed_bytes(const Problem& p, const Config& c, int input) {
  return input == 1 ? ConvPhases(p, c[kMerged]).packed_floats(gemm_f32_kernels(c[kIsa]).panel, c[kDepth]) * 4 : -1;
}

void pack(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed) {
  auto* to = static_cast<float*>(packed);
  std::fill_n(to, packed_bytes(p, c, input) / 4, 0.f);
  const float* from = constants[1]->data<float>();
  ConvPhases(p, c[kMerged]).for_each_weight(gemm_f32_kernels(c[kIsa]).panel, c[kDepth], [&](int64_t a, int64_t b) { to[a] = from[b]; });
}

Tensor unpack(const Problem& p, const Config& c, int, const void* packed) {
  Tensor weight(DType::f32, ir::constants(p.in[1].dims));
  float* to = weight.mutable_data<float>();
  const float* from = static_cast<const float*>(packed);
  ConvPhases(p, c[kMerged]).for_each_weight(gemm_f32_kernels(c[kIsa]).panel, c[kDepth], [&](int64_t a, int64_t b) { to[b] = from[a]; });
  return weight;
}

struct Kernel {
  const GemmF32Kernels* kernels;
  ConvPhases phases;
  int64_t rows, depth;
  int64_t pitch;  // floats of a row of sums
  int own_bias;
  F32Epilogue at_once;
  std::optional<Epilogue> epilogue;  // absent: all is done in registers
  std::vector<float> zeros;          // a position of padding
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  auto kernel = std::make_shared<Kernel>();
  kernel->kernels = &gemm_f32_kernels(c[kIsa]);
  kernel->phases = ConvPhases(p, c[kMerged]);
  kernel->rows = c[kRows], kernel->depth = c[kDepth];
  kernel->pitch = round_up(kernel->phases.width(), 16);
  kernel->own_bias = own_bias(p);
  if (in_registers(p))
    kernel->at_once = F32Epilogue(p, 1, own_bias(p));
  else
    kernel->epilogue.emplace(p, DType::f32);
  kernel->zeros.assign(static_cast<std::size_t>(kernel->phases.transposed().channels), 0.f);
  return kernel;
}

// Per worker: the sums of a block, the bias of its columns, what the epilogue wants.
int64_t sums_bytes(const ConvPhases& phases, int64_t rows) { return checked_mul(round_up(phases.width(), 16), checked_mul(rows + 1, 4)); }
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  return ir::Dim(
      checked_add(sums_bytes(ConvPhases(p, c[kMerged]), c[kRows]), in_registers(p) ? 0 : Epilogue(p, DType::f32).scratch_bytes()));
}

// Neighboring positions of a line of the grid: those of block rows [row, row + count).
struct Segment {
  int64_t row, count, batch;
  Three at;
};
template <class F>
void for_each_segment(const Three& grid, int64_t first, int64_t rows, F&& f) noexcept {
  for (int64_t row = 0, count; row < rows; row += count) {
    const int64_t i = first + row, line = i / grid[2];
    count = std::min(rows - row, grid[2] - i % grid[2]);
    f(Segment{row, count, line / grid[1] / grid[0], {line / grid[1] % grid[0], line % grid[1], i % grid[2]}});
  }
}

template <int64_t kCount>
void copy_fixed(float* to, int64_t to_step, const float* from, int64_t from_step, int64_t rows) noexcept {
  for (; rows > 0; --rows, to += to_step, from += from_step) std::memcpy(to, from, kCount * 4);
}
void copy_rows(float* to, int64_t to_step, const float* from, int64_t from_step, int64_t rows, int64_t count) noexcept {
  switch (count) {
    case 1: return copy_fixed<1>(to, to_step, from, from_step, rows);
    case 2: return copy_fixed<2>(to, to_step, from, from_step, rows);
    case 4: return copy_fixed<4>(to, to_step, from, from_step, rows);
    case 8: return copy_fixed<8>(to, to_step, from, from_step, rows);
    case 16: return copy_fixed<16>(to, to_step, from, from_step, rows);
    case 32: return copy_fixed<32>(to, to_step, from, from_step, rows);
    default:
      for (; rows > 0; --rows, to += to_step, from += from_step) std::memcpy(to, from, static_cast<std::size_t>(count) * 4);
  }
}

struct BlockRun {
  const Kernel& kernel;
  const RunArgs& args;
  const ConvExtents& extents;          // of the operator
  const ConvExtents& windows;          // of the convolutions, whose results are the grid
  const GemmF32EpilogueArgs& at_once;  // of channel 0
  const Epilogue::Binding* bound;      // null: nothing is left to do
  int64_t y_stride = args.out[0].strides[args.out[0].rank - 1];

  int64_t result(const Segment& s, int64_t z, int64_t y, int64_t x) const noexcept {
    return ((s.batch * extents.out[0] + z) * extents.out[1] + y) * extents.out[2] + x;
  }

  // The sums of one group and phase go where they belong.
  void put(const ConvPhase& phase, int64_t group, int64_t first, int64_t rows, const float* sums) const noexcept {
    const Three &stride = kernel.phases.stride(), &columns = kernel.phases.columns();
    const int64_t width = phase.shape.width;
    const bool together = y_stride == width;  // phases of a line lie side by side
    const int64_t across = together ? 1 : columns[2], count = together ? columns[2] : 1;
    for_each_segment(windows.out, first, rows, [&](const Segment& s) noexcept {
      for (int64_t place = 0; place < columns[0] * columns[1] * across; ++place) {
        const int64_t z = s.at[0] * stride[0] + phase.first[0] + place / across / columns[1];
        const int64_t y = s.at[1] * stride[1] + phase.first[1] + place / across % columns[1];
        const int64_t x = s.at[2] * stride[2] + phase.first[2] + place % across;
        if (z >= extents.out[0] || y >= extents.out[1] || x >= extents.out[2]) continue;
        const int64_t whole = std::clamp<int64_t>((extents.out[2] - x - count) / stride[2] + (extents.out[2] - x >= count), 0, s.count);
        float* to = args.out[0].as<float>() + result(s, z, y, x) * y_stride + group * width;
        const float* from = sums + s.row * kernel.pitch + place * count * width;
        copy_rows(to, stride[2] * y_stride, from, kernel.pitch, whole, count * width);
        if (const int64_t rest = extents.out[2] - x - whole * stride[2]; whole < s.count && rest > 0)  // the end of a line
          copy_rows(to + whole * stride[2] * y_stride, 0, from + whole * kernel.pitch, 0, 1, rest * width);
      }
    });
  }

  // All results of positions [first, first + rows) of the grid.
  void block(int64_t first, int64_t rows, void* scratch) const noexcept {
    float* const bias = static_cast<float*>(scratch);
    float* const sums = bias + kernel.pitch;
    const ConvShape& t = kernel.phases.transposed();
    const float* packed = args.in[1].as<const float>();
    const RowTiles tiles(rows, kernel.kernels->max_rows);
    for (const ConvPhase& phase : kernel.phases.phases()) {
      const GemmF32Weights w = kernel.phases.weights(phase, kernel.kernels->panel, kernel.depth);
      const float* table[kRowTable];
      if (!phase.empty) {
        const WindowRows rows_of(phase.shape, windows, args.in[0].as<const float>(), kernel.zeros.data());
        fill_windows(rows_of, first, tiles, kernel.kernels->max_rows, table);
      }
      for (int64_t group = 0; group < t.groups; ++group, packed += w.floats()) {
        gemm(phase, w, packed, table, rows, group, bias, sums);
        put(phase, group, first, rows, sums);
      }
    }
    if (bound) finish(first, rows, sums + kernel.rows * kernel.pitch);
  }

  void gemm(const ConvPhase& phase, const GemmF32Weights& w, const float* packed, const float* const* table, int64_t rows, int64_t group,
            float* bias, float* sums) const noexcept {
    const int64_t width = phase.shape.width;
    F32Epilogue::Binding here;
    here.epilogue = at_once, here.any = at_once.bias || at_once.clamp;
    if (at_once.bias) {
      for (int64_t n = 0; n < w.n; ++n) bias[n] = at_once.bias[group * width + n % width];
      here.epilogue.bias = bias;
    }
    if (phase.empty) {
      for (int64_t n = 0; n < w.n; ++n) {
        sums[n] = at_once.bias ? bias[n] : 0.f;
        if (at_once.clamp) sums[n] = std::min(std::max(sums[n], at_once.low), at_once.high);
      }
      for (int64_t row = 1; row < rows; ++row) std::copy_n(sums, w.n, sums + row * kernel.pitch);
      return;
    }
    const GemmF32Block block{
        .table = table, .rows = rows, .offset = group * phase.shape.depth, .last_panel = w.panels(), .c = sums, .c_stride = kernel.pitch};
    gemm_f32_block(*kernel.kernels, w, packed, block, F32Epilogue(), here, nullptr);
  }

  // Runs the epilogue over the block's results.
  void finish(int64_t first, int64_t rows, void* scratch) const noexcept {
    const Three& stride = kernel.phases.stride();
    for_each_segment(windows.out, first, rows, [&](const Segment& s) noexcept {
      const int64_t x = s.at[2] * stride[2], count = std::min(s.count * stride[2], extents.out[2] - x);
      for (int64_t z = s.at[0] * stride[0]; z < std::min((s.at[0] + 1) * stride[0], extents.out[0]); ++z) {
        for (int64_t y = s.at[1] * stride[1]; y < std::min((s.at[1] + 1) * stride[1], extents.out[1]); ++y) {
          const int64_t row = result(s, z, y, x);
          kernel.epilogue->apply(*bound, row, count, 0, kernel.phases.transposed().filters, args.out[0].as<const float>() + row * y_stride,
                                 y_stride, scratch);
        }
      }
    });
  }
};

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const ConvExtents extents(args.in[0], args.out[0]);
  if (extents.rows() == 0) return Status::ok;
  ConvExtents windows = extents;
  windows.out = kernel.phases.grid(extents.out);
  F32Epilogue::Binding at_once;
  std::optional<Epilogue::Binding> bound;
  if (kernel.epilogue) {
    kernel.epilogue->bind(args, TileAxes::channels_last(args.out[0].rank), bound.emplace());
    if (kernel.own_bias >= 0) at_once.epilogue.bias = args.in[static_cast<std::size_t>(kernel.own_bias)].as<const float>();
  } else {
    kernel.at_once.bind(args, TileAxes::channels_last(args.out[0].rank), at_once);
  }
  const BlockRun run{kernel, args, extents, windows, at_once.epilogue, bound ? &*bound : nullptr};
  const int64_t rows = windows.rows(), blocks = ceil_div(rows, kernel.rows);
  args.parallel->for_each(blocks, [&](int64_t i, int worker) noexcept {
    const int64_t first = i * rows / blocks;
    run.block(first, (i + 1) * rows / blocks - first, args.scratch_of(worker));
  });
  return Status::ok;
}

double work(const Problem& p) {
  const ConvPhases phases(p, 0);
  const ConvShape& s = phases.transposed();
  const double outputs = static_cast<double>(conv_likely_rows(p)) * static_cast<double>(s.filters);
  return 2.0 * outputs * static_cast<double>(s.depth * s.taps()) / static_cast<double>(s.stride[0] * s.stride[1] * s.stride[2]);
}

}  // namespace

Tactic cpu_conv_transpose_phases() {
  return packed_tactic({.name = "conv_transpose_phases",
                        .ops = {"ConvTranspose"},
                        .formats = formats,
                        .worker_scratch = worker_scratch,
                        .cases = {"ConvTranspose f32[2,5,6,5,7] f32[5,3,3,3,3]! f32[3]! strides=[2,2,2] pads=[1,1,1,1,1,1] "
                                  "output_padding=[1,1,1]",
                                  "ConvTranspose f32[1,7,9] f32[7,5,6]! f32[5]! strides=[4] dilations=[3] pads=[2,5]",
                                  "ConvTranspose f32[2,12,5,4] f32[12,4,3,5]! group=3 strides=[3,2] dilations=[1,2] pads=[0,3,1,2]",
                                  "ConvTranspose f32[1,8,4,3] f32[8,8,1,2]! f32[8]! strides=[3,3] output_padding=[2,0]"}},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, work});
}

}  // namespace tenfold::backends
