// Transposed convolutions on AMX: lines of the image times each tap's weights.
#include "backends/cpu/tactics/conv/conv_transpose_amx_common.h"

#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/gemm/pack_bf16.h"
#include "backends/cpu/tactics/conv/conv_transpose_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends::cpu {
namespace {

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

}  // namespace

Verdict conv_transpose_amx_supports(const Problem& p) {
  if (const Verdict apart = conv_transpose_apart(p); !apart) return apart;
  if (!uniform_positions(p.in[0])) return Verdict::no("positions of the image do not lie at one distance");
  if (const Verdict epilogue = Bf16Epilogue::supports(p, 1, own_bias(p)); !epilogue) return epilogue;
  return Verdict::only_if(Bf16Epilogue(p, 1, own_bias(p)).simple(), "the epilogue is not a sum and a clamp");
}

namespace {

std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

// Each tap has packed weights of its own, one after the other.
GemmBf16Weights weights_of(const Problem& p) {
  const ConvShape s = conv_transpose_shape(p);
  return {.taps = 1, .k = s.channels, .n = s.filters, .type = p.in[1].dtype, .terms = bf16_terms(p) == 1 ? 1 : 3};
}
std::int64_t value_bytes(const Problem& p) { return weights_of(p).bytes() * conv_transpose_shape(p).taps(); }

// {lines of a part}
std::vector<Config> configs(const Problem&) { return {{4}, {16}, {1}}; }
Verdict valid(const Problem&, const Config& c) {
  return Verdict::only_if(c.size() == 1 && c[0] > 0 && c[0] <= 1 << 10, "its configuration is out of range");
}

std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return input == 1 ? value_bytes(p) : -1; }
// f(tap's weights' first byte, index of the original by tap of the product, k and column) for each tap of the kernel.
template <class F>
void for_each_tap(const Problem& p, F&& f) {
  const ConvShape s = conv_transpose_shape(p);
  for (std::int64_t tap = 0; tap < s.taps(); ++tap)
    f(tap * weights_of(p).bytes(), [&](std::int64_t, std::int64_t k, std::int64_t n) { return (k * s.filters + n) * s.taps() + tap; });
}
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  for_each_tap(p, [&](std::int64_t at, auto element) {
    pack_bf16(weights_of(p), *constants[1], static_cast<char*>(packed) + at, element);
  });
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  Tensor original(p.in[1].dtype, ir::constants(p.in[1].dims));
  for_each_tap(p, [&](std::int64_t at, auto element) {
    unpack_bf16(weights_of(p), original, static_cast<const char*>(packed) + at, element);
  });
  return original;
}

struct Kernel {
  ConvShape shape;
  GemmBf16Weights weights;
  std::int64_t lines, epilogue_bytes;
  bool copies;
  DType type;
  Bf16Epilogue epilogue;
};

bool copies(const Problem& p) { return Bf16Matrix::copies(p.in[0].dtype, weights_of(p).k, true); }
std::int64_t epilogue_bytes(const Problem& p) {
  const std::int64_t filters = conv_transpose_shape(p).filters;
  return gemm_bf16_scratch(Bf16Epilogue(p, 1, own_bias(p)), filters) + gemm_bf16_split_bytes(weights_of(p), filters, true);
}

ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const std::int64_t tile = Bf16Matrix::copy_bytes(weights_of(p), true, 16);
  if (!copies(p)) return epilogue_bytes(p) + tile;
  return p.in[0].dims.back() * ir::Dim(c[0] * (tile / 16)) + ir::Dim(epilogue_bytes(p) + tile);
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  return std::make_shared<Kernel>(Kernel{conv_transpose_shape(p), weights_of(p), c[0], epilogue_bytes(p), copies(p), p.in[0].dtype,
                                         Bf16Epilogue(p, 1, own_bias(p))});
}

// Input lines [y, y + count) of plane `plane` (of all images), for all taps.
struct Lines { std::int64_t plane, y, count; };
void multiply(const Kernel& k, const ConvExtents& e, const Bf16Matrix& image, const Lines& lines, const void* packed,
              const Bf16Epilogue::Binding& bound, char* scratch) noexcept {
  const Three& taps = k.shape.kernel;
  const std::int64_t first = (lines.plane * e.in[1] + lines.y) * e.in[2];
  GemmBf16Rows rows = image.rows(k.weights, first, lines.count * e.in[2], scratch + k.epilogue_bytes);
  rows.line = rows.pitch = e.in[2];
  rows.line_out = taps[1] * e.out[2];
  rows.step_out = taps[2];
  const char* values = static_cast<const char*>(packed);
  for (std::int64_t a = 0; a < taps[0]; ++a)
    for (std::int64_t b = 0; b < taps[1]; ++b)
      for (std::int64_t c = 0; c < taps[2]; ++c, values += k.weights.bytes()) {
        rows.first_out = ((lines.plane * taps[0] + a) * e.out[1] + lines.y * taps[1] + b) * e.out[2] + c;
        gemm_bf16(k.weights, values, rows, 0, k.weights.panels(), true, k.epilogue, bound, scratch);
      }
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  const ConvExtents e(x, y);
  if (e.rows() == 0) return Status::ok;
  Bf16Epilogue::Binding bound;
  k.epilogue.bind(args, TileAxes::channels_last(y.rank), y.strides[y.rank - 1], bound);
  const std::int64_t all[] = {e.batch * e.in[0] * e.in[1] * e.in[2]}, strides[] = {e.x_stride[2]};
  const Bound positions{.data = x.data, .dims = all, .strides = strides, .rank = 1};
  const Bf16Matrix image(x.data, k.type, MatrixRows(positions, 0, 1), k.copies);
  const std::int64_t blocks = ceil_div(e.in[1], k.lines);
  args.parallel->for_each(e.batch * e.in[0] * blocks, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t from = part % blocks * k.lines;
    multiply(k, e, image, {part / blocks, from, std::min(k.lines, e.in[1] - from)}, args.in[1].data, bound,
             args.scratch_of<char>(worker));
  });
  return Status::ok;
}

}  // namespace

Tactic conv_transpose_amx(std::string name, Verdict (*supports)(const Problem&)) {
  return packed_tactic({.name = std::move(name), .version = 4, .ops = {"ConvTranspose"}, .formats = formats,
                        .worker_scratch = worker_scratch},
                       {supports, configs, valid, packed_bytes, pack, unpack, open, run, conv_transpose_work});
}

}  // namespace tenfold::backends::cpu
