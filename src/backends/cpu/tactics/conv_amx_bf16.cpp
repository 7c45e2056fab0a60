// conv_amx_bf16: channels-last convolution in bf16 with f32 sums, where bf16 is permitted: windows are gathered as they are rounded.
#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/gemm/window_rows.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

Verdict supports(const Problem& p) {
  if (const Verdict permitted = bf16_permitted(p); !permitted) return permitted;
  if (const Verdict common = conv_supports(p); !common) return common;
  const ConvShape s(p);
  if (s.taps() > kMostTaps) return Verdict::no("the kernel has too many taps");
  if (s.groups > 1) return Verdict::no("it has groups");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return F32End::supports(p, 1, own_bias(p));
}
std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

GemmBf16Weights weights_of(const ConvShape& s) { return {.taps = s.taps(), .k = s.depth, .n = s.width}; }

// {positions of a block, columns of a block, lanes}
std::vector<Config> configs(const Problem& p) {
  const ConvShape s(p);
  const std::int64_t rows = std::max<std::int64_t>(conv_likely_rows(p), 1), most_rows = kRowTable / s.taps();
  std::vector<Config> all;
  for (const std::int64_t most : {64, 128, 32}) {
    for (const std::int64_t pieces : {1, 4}) {
      if (pieces > 1 && rows > 4 * most) continue;
      const Config c{std::min(most, most_rows), round_up(ceil_div(s.width, pieces), 32), 8};
      if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
    }
  }
  return all;
}

Verdict valid(const Problem& p, const Config& c) {
  if (c.size() != 3) return Verdict::no("its configuration has another length");
  return Verdict::only_if(c[0] > 0 && c[0] <= kRowTable / ConvShape(p).taps() && c[1] > 0 && c[1] < 1 << 30 && c[2] > 0 && c[2] <= 64,
                          "its block sizes are out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return input == 1 ? weights_of(ConvShape(p)).bytes() : -1; }
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  const GemmBf16Weights w = weights_of(ConvShape(p));
  pack_bf16(w, *constants[1], packed, [&](std::int64_t tap, std::int64_t k, std::int64_t n) { return (n * w.k + k) * w.taps + tap; });
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  return unpack_bf16(weights_of(ConvShape(p)), ir::constants(p.in[1].dims), packed);
}

struct Kernel {
  ConvShape shape;
  GemmBf16Weights weights;
  std::int64_t rows, cols, lanes;
  F32End end;
  std::vector<float> zeros;
};

ir::Dim worker_scratch(const Problem& p, const Config& c) {
  return GemmBf16Rows(weights_of(ConvShape(p)), c[0]).bytes + round_up(F32End(p, 1, own_bias(p)).scratch_bytes(), 64);
}

std::shared_ptr<const void> open(const Problem& p, const Config& c) {
  const ConvShape s(p);
  return std::make_shared<Kernel>(Kernel{s, weights_of(s), c[0], c[1], c[2], F32End(p, 1, own_bias(p)),
                                         std::vector<float>(static_cast<std::size_t>(s.channels))});
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& kernel = *static_cast<const Kernel*>(self);
  const GemmBf16Weights& w = kernel.weights;
  const Bound& y = args.out[0];
  const ConvExtents extents(args.in[0], y);
  const std::int64_t m = extents.rows();
  if (m == 0) return Status::ok;
  const WindowRows windows(kernel.shape, extents, args.in[0].as<const float>(), kernel.zeros.data());
  F32End::Binding bound;
  kernel.end.bind(args, TileAxes::channels_last(y.rank), bound);
  const std::int64_t row_blocks = ceil_div(m, kernel.rows), pieces = ceil_div(w.panels() * 32, std::max<std::int64_t>(kernel.cols, 32));
  const std::int64_t parts = row_blocks * pieces;
  args.parallel->for_each(std::min(kernel.lanes, parts), [&](std::int64_t lane, int worker) noexcept {
    char* const memory = args.scratch_of<char>(worker);
    const float* table[kRowTable];
    for (std::int64_t part = lane; part < parts; part += kernel.lanes) {
      const std::int64_t i = part / pieces, j = part % pieces, row = i * m / row_blocks;
      const GemmBf16Block block{.table = table,
                                .rows = (i + 1) * m / row_blocks - row,
                                .row = row,
                                .first_panel = j * w.panels() / pieces,
                                .last_panel = (j + 1) * w.panels() / pieces,
                                .c = y.as<float>(),
                                .c_stride = y.strides[y.rank - 1]};
      WindowRows::Cursor cursor(windows, row);
      for (std::int64_t r = 0; r < block.rows; ++r) cursor.write(table + r * w.taps, 1);
      gemm_bf16_block(w, args.in[1].data, block, reinterpret_cast<std::uint16_t*>(memory), kernel.end, bound,
                      memory + GemmBf16Rows(w, kernel.rows).bytes);
    }
  });
  return Status::ok;
}

}  // namespace

Tactic cpu_conv_amx_bf16() {
  return {.name = "conv_amx_bf16",
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
