// Transposed convolutions on AMX: lines of the image times each tap's weights.
#include "backends/cpu/tactics/conv/conv_transpose_amx_common.h"

#include "backends/cpu/gemm/bf16/bf16_matrix.h"
#include "backends/cpu/gemm/bf16/gemm_bf16.h"
#include "backends/cpu/gemm/bf16/pack_bf16.h"
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
GemmBf16B weights_of(const Problem& p) {
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
  GemmBf16Plan plan;
  std::int64_t lines, gemm_bytes;   // of a part; of scratch
  DType type;
  Bf16Epilogue epilogue;
};

GemmBf16Plan plan_of(const Problem& p) {
  const GemmBf16B b = weights_of(p);
  return {b, Bf16Matrix::mode(p.in[0].dtype, b.k, true), GemmBf16Plan::Loops::panels_inside, Bf16Epilogue(p, 1, own_bias(p))};
}

ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const GemmBf16Plan plan = plan_of(p);
  const std::int64_t tile = Bf16Matrix::copy_bytes(plan.matrix, Bf16Matrix::Mode::packed, GemmBf16A::kTile);
  const std::int64_t known = plan.scratch_bytes(plan.matrix.n) + tile;
  if (plan.a == GemmBf16Plan::A::in_place) return known;
  return p.in[0].dims.back() * ir::Dim(c[0] * (tile / GemmBf16A::kTile)) + ir::Dim(known);
}

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const GemmBf16Plan plan = plan_of(p);
  return std::make_shared<Kernel>(Kernel{conv_transpose_shape(p), plan, c[0], plan.scratch_bytes(plan.matrix.n), p.in[0].dtype,
                                         Bf16Epilogue(p, 1, own_bias(p))});
}

// Input lines [y, y + count) of plane `plane` (of all images), for all taps.
struct Lines { std::int64_t plane, y, count; };
void multiply(const Kernel& k, const ConvExtents& e, const Bf16Matrix& image, const Lines& lines, const void* packed,
              const Bf16Epilogue::Binding& bound, char* scratch) noexcept {
  const Three& taps = k.shape.kernel;
  const GemmBf16B& b_of_tap = k.plan.matrix;
  const std::int64_t first = (lines.plane * e.in[1] + lines.y) * e.in[2];
  GemmBf16Rows rows = image.rows(b_of_tap, first, lines.count * e.in[2], scratch + k.gemm_bytes);
  rows.c.line = rows.c.pitch = e.in[2];
  rows.c.line_step = taps[1] * e.out[2];
  rows.c.step = taps[2];
  const char* values = static_cast<const char*>(packed);
  for (std::int64_t a = 0; a < taps[0]; ++a)
    for (std::int64_t b = 0; b < taps[1]; ++b)
      for (std::int64_t c = 0; c < taps[2]; ++c, values += b_of_tap.bytes()) {
        rows.c.first = ((lines.plane * taps[0] + a) * e.out[1] + lines.y * taps[1] + b) * e.out[2] + c;
        gemm_bf16(k.plan, {rows, values, 0, b_of_tap.panels(), k.epilogue, bound, scratch});
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
  const Bf16Matrix image(x.data, k.type, MatrixRows(positions, 0, 1), k.plan.a);
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
