// Convolutions on AMX: 1x1 convolutions are products of the image's positions; others run over a copy of some lines of the image
// (Bf16Windows).
#include "backends/cpu/tactics/conv/conv_amx_common.h"

#include <memory>

#include "backends/cpu/gemm/bf16/bf16_matrix.h"
#include "backends/cpu/gemm/bf16/gemm_bf16.h"
#include "backends/cpu/gemm/bf16/pack_bf16.h"
#include "backends/cpu/tactics/conv/conv_amx_blocks_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends::cpu {
namespace {

int own_bias(const Problem& p) { return conv_has_bias(p) ? 2 : -1; }

}  // namespace

Verdict conv_amx_supports(const Problem& p) {
  if (const Verdict common = conv_extents_supported(p); !common) return common;
  const ConvShape s(p);
  if (s.taps() > Bf16Windows::kMaxTaps) return Verdict::no("the kernel has too many taps");
  if (s.groups > 1) return Verdict::no("it has groups");
  if (!conv_amx_windows(p).fits(1, 1)) return Verdict::no("its windows reach too far to be copied");
  if (!unit_channels(p.in[0])) return Verdict::no("the input is not channels-last");
  if (!uniform_positions(p.out[0])) return Verdict::no("the result is not channels-last");
  return Bf16Epilogue::supports(p, 1, own_bias(p));
}

namespace {

std::vector<Formats> formats(const Problem& p) { return {conv_formats(p, kChannelsLast, kChannelsLast)}; }

std::int64_t packed_bytes(const Problem& p, const Config&, int input) { return input == 1 ? conv_amx_weights(p).bytes() : -1; }
// The index of a weight in [filter][channel][tap of the kernel].
struct Element {
  Bf16Windows windows;
  std::int64_t filter;
  explicit Element(const Problem& p) : windows(conv_amx_windows(p)), filter(ConvShape(p).depth * ConvShape(p).taps()) {}
  std::int64_t operator()(std::int64_t tap, std::int64_t k, std::int64_t n) const { return n * filter + windows.element(tap, k); }
};
void pack(const Problem& p, const Config&, int, std::span<const Tensor* const> constants, void* packed) {
  pack_bf16(conv_amx_weights(p), *constants[1], packed, Element(p));
}
Tensor unpack(const Problem& p, const Config&, int, const void* packed) {
  return unpack_bf16(conv_amx_weights(p), ir::constants(p.in[1].dims), packed, Element(p));
}

GemmBf16Plan plan_of(const Problem& p, const Config& c) {
  const GemmBf16B b = conv_amx_weights(p);
  const auto a = conv_amx_is_pointwise(p) ? Bf16Matrix::mode(p.in[0].dtype, b.k, true) : GemmBf16Plan::A::windows;
  return {b, a, c[2] != 0 ? GemmBf16Plan::Loops::panels_inside : GemmBf16Plan::Loops::panels_outside, Bf16Epilogue(p, 1, own_bias(p))};
}

// Windows have their taps before them.
std::int64_t taps_bytes(const Problem& p) { return conv_amx_is_pointwise(p) ? 0 : round_up(conv_amx_weights(p).taps * 8, 64); }
ir::Dim copy_bytes(const Problem& p, const Config& c) {
  if (conv_amx_is_pointwise(p)) return Bf16Matrix::copy_bytes(conv_amx_weights(p), plan_of(p, c).a, c[0]);
  return conv_amx_windows(p).bytes<ir::Dim>(c[4] == 1 ? 1 : c[3], c[0], p.out[0].dims.back()) + ir::Dim(taps_bytes(p));
}

// Pieces of the columns that are multiplied apart.
std::int64_t pieces_of(const Problem& p, const Config& c) { return ceil_div(conv_amx_weights(p).panels() * 32, c[1]); }

// How positions of the result are divided into blocks.
struct Blocking {
  bool points, flat, rolls;
  std::int64_t block, planes;   // positions, or lines and planes
  Blocking(const Problem& p, const Config& c)
      : points(conv_amx_is_pointwise(p)), flat(conv_amx_windows(p).flat()), rolls(c[4] == 1), block(c[0]), planes(c[3]) {}
  // Planes of all images if windows lie in one, else those of each image.
  std::int64_t images(std::int64_t batch) const { return flat ? 1 : batch; }
  std::int64_t blocks(std::int64_t batch, const Three& out) const {
    if (points) return ceil_div(batch * out[0] * out[1] * out[2], block);
    if (batch == 0) return 0;
    return images(batch) * ceil_div(batch / images(batch) * out[0], planes) * ceil_div(out[1], block);
  }
};

// Rows that several pieces of the columns take are copied once for all of them, block behind block, where extents are known.
struct Shared {
  std::int64_t blocks = 0, block_bytes = 0;   // no blocks: each part copies for itself
  std::int64_t table_bytes() const { return round_up(blocks * static_cast<std::int64_t>(sizeof(GemmBf16Rows)), 64); }
  std::int64_t bytes() const { return table_bytes() + blocks * block_bytes; }
};
Shared shared_of(const Problem& p, const Config& c) {
  constexpr std::int64_t kMaxBytes = 1 << 26;
  const ir::Dims& y = p.out[0].dims;
  if (pieces_of(p, c) == 1 || plan_of(p, c).a == GemmBf16Plan::A::in_place || !ir::is_constant(y)) return {};
  Three out{1, 1, 1};
  for (std::size_t i = y.size(), d = 3; i-- > 2;) out[--d] = y[i].constant();
  const Shared all{Blocking(p, c).blocks(y[0].constant(), out), round_up(copy_bytes(p, c).constant(), 64)};
  return all.blocks > kMaxBytes / all.block_bytes ? Shared{} : all;
}
ir::Dim workspace(const Problem& p, const Config& c) { return shared_of(p, c).bytes(); }
// The product's scratch comes first: its extent is known. Then the border, then what is copied.
ir::Dim worker_scratch(const Problem& p, const Config& c) {
  const ir::Dim copied = shared_of(p, c).blocks > 0 ? ir::Dim(0) : copy_bytes(p, c);
  const ir::Dim border = conv_amx_is_pointwise(p) ? ir::Dim(0) : conv_amx_windows(p).border_bytes<ir::Dim>(p.out[0].dims.back());
  return plan_of(p, c).scratch_bytes(c[1]) + border + copied;
}

struct Kernel {
  Bf16Windows windows;
  GemmBf16Plan plan;
  Blocking blocking;
  Shared shared;
  std::int64_t pieces, gemm_bytes, taps_bytes;   // pieces of the columns; of scratch
  DType type;
  Bf16Epilogue epilogue;
};

std::shared_ptr<const void> open(const Problem& p, const Config& c, Opening&) {
  const GemmBf16Plan plan = plan_of(p, c);
  return std::make_shared<Kernel>(Kernel{conv_amx_windows(p), plan, Blocking(p, c), shared_of(p, c), pieces_of(p, c),
                                         plan.scratch_bytes(c[1]), taps_bytes(p), p.in[0].dtype, Bf16Epilogue(p, 1, own_bias(p))});
}

// What a run is cut into: blocks of rows times pieces of the columns.
struct Parts {
  std::int64_t blocks, pieces;
};

// Rows that lie where they are read can be cut by the number of workers: as many blocks for each, and all columns for each row where
// reading all weights costs a worker less than reading all rows, much of which others wrote and read next.
Parts parts_of(const Kernel& k, const ConvExtents& e, const GemmBf16EpilogueArgs& epilogue, std::int64_t workers) noexcept {
  const GemmBf16B& b = k.plan.matrix;
  Parts parts{k.blocking.blocks(e.batch, e.out), k.pieces};
  if (workers == 1 || k.plan.a != GemmBf16Plan::A::in_place || b.terms > 1 || !k.epilogue.simple()) return parts;
  const std::int64_t rows = e.rows(), read = rows * b.k * 2, made = rows * b.n * (epilogue.residual ? 4 : 2);
  if ((workers - 1) * b.values() * 2 <= (2 * workers - 1) * read + made) parts.pieces = 1;
  if (parts.pieces == 1) parts.blocks = std::min(round_up(parts.blocks, workers), ceil_div(rows, GemmBf16Plan::kMr));
  return parts;
}

// The rows of a run, block by block.
class Blocks {
 public:
  Blocks(const Kernel& k, const Bound& x, const ConvExtents& e, std::int64_t count) noexcept
      : k_(k), count_(count), image_(x.data), extents_(e), dims_{e.rows()}, strides_{e.x_stride[2]},
        matrix_(x.data, k.type, MatrixRows({.data = x.data, .dims = dims_, .strides = strides_, .rank = 1}, 0, 1), k.plan.a) {}
  std::int64_t count() const noexcept { return count_; }

  // Copies a part of block i, if rows are copied at all.
  void copy(std::int64_t i, const Bf16Windows::Part& part, char* memory, char* border) const noexcept {
    if (k_.plan.a == GemmBf16Plan::A::windows) return k_.windows.copy(extents_, image_, lines(i), part, memory + k_.taps_bytes, border);
    if (k_.plan.a == GemmBf16Plan::A::in_place) return;
    const std::int64_t first = part.part * points(i) / part.parts, last = (part.part + 1) * points(i) / part.parts;
    const GemmBf16B& b = k_.plan.matrix;
    matrix_.copy(b, position(i) + first, last - first, memory + first * Bf16Matrix::copied_row(b));
  }
  // Its rows, copied before.
  GemmBf16Rows rows(std::int64_t i, char* memory) const noexcept {
    if (k_.plan.a == GemmBf16Plan::A::windows)
      return k_.windows.rows(extents_, lines(i), memory + k_.taps_bytes, reinterpret_cast<std::int64_t*>(memory));
    if (k_.plan.a == GemmBf16Plan::A::packed) return Bf16Matrix::copied(k_.plan.matrix, position(i), points(i), memory);
    return matrix_.rows(k_.plan.matrix, position(i), points(i), memory);
  }

  // Block i plane by plane: f(rows of one plane).
  template <class F>
  void roll(std::int64_t i, char* memory, char* border, F&& f) const noexcept {
    const Bf16Windows::Lines all = lines(i);
    char* const copied = memory + k_.taps_bytes;
    for (std::int64_t step = 0; step < all.planes; ++step) {
      k_.windows.roll(extents_, image_, all, step, copied, border);
      GemmBf16Rows rows = k_.windows.rolled(extents_, all, step, copied, reinterpret_cast<std::int64_t*>(memory));
      rows.a.prefetch(k_.windows.next_rolled(extents_, image_, all, step));
      f(rows);
    }
  }

  // What block i + 1 reads of the image besides.
  GemmBf16Windows::Next next(std::int64_t i) const noexcept {
    if (k_.plan.a != GemmBf16Plan::A::windows || i + 1 >= count()) return {};
    return k_.windows.next(extents_, image_, lines(i), lines(i + 1));
  }

 private:
  // Pairs of tiles are shared out: a short last block would leave its worker idle, and what it could not take would lie in another's cache.
  std::int64_t position(std::int64_t i) const noexcept {
    constexpr std::int64_t kMr = GemmBf16Plan::kMr;
    return std::min(i * ceil_div(dims_[0], kMr) / count() * kMr, dims_[0]);
  }
  std::int64_t points(std::int64_t i) const noexcept { return position(i + 1) - position(i); }
  Bf16Windows::Lines lines(std::int64_t i) const noexcept {
    const std::int64_t images = k_.blocking.images(extents_.batch), planes = extents_.batch / images * extents_.out[0];
    const std::int64_t blocks = ceil_div(extents_.out[1], k_.blocking.block), stacks = ceil_div(planes, k_.blocking.planes);
    const std::int64_t b = i % blocks, stack = i / blocks % stacks, image = i / blocks / stacks;
    const std::int64_t from = b * extents_.out[1] / blocks, plane = stack * planes / stacks;
    return {image * planes + plane, (stack + 1) * planes / stacks - plane, from, (b + 1) * extents_.out[1] / blocks - from};
  }

  const Kernel& k_;
  std::int64_t count_;
  const void* image_;
  const ConvExtents& extents_;
  std::int64_t dims_[1], strides_[1];
  Bf16Matrix matrix_;
};

// All blocks into the workspace; their rows stand in its table.
const GemmBf16Rows* copy_all(const Kernel& k, const Blocks& blocks, const RunArgs& args) noexcept {
  auto* const table = static_cast<GemmBf16Rows*>(args.workspace);
  char* const memory = static_cast<char*>(args.workspace) + k.shared.table_bytes();
  const std::int64_t parts = ceil_div(8, blocks.count());   // of a block: enough for some workers
  args.parallel->for_each(blocks.count() * parts, [&](std::int64_t part, int worker) noexcept {
    const std::int64_t i = part / parts;
    char* const to = memory + i * k.shared.block_bytes;
    blocks.copy(i, {part % parts, parts}, to, args.scratch_of<char>(worker) + k.gemm_bytes);
    if (part % parts == 0) std::construct_at(table + i, blocks.rows(i, to));
  });
  return table;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const auto& k = *static_cast<const Kernel*>(self);
  const Bound &x = args.in[0], &y = args.out[0];
  const ConvExtents extents(x, y);
  if (extents.rows() == 0) return Status::ok;
  Bf16Epilogue::Binding bound;
  k.epilogue.bind(args, TileAxes::channels_last(y.rank), y.strides[y.rank - 1], bound);
  const Parts parts = parts_of(k, extents, bound.epilogue, args.parallel->workers());
  const Blocks blocks(k, x, extents, parts.blocks);
  const std::int64_t border_bytes = k.blocking.points ? 0 : k.windows.border_bytes(extents.out[2]) / 64 * 64;
  const GemmBf16Rows* const table = k.shared.blocks > 0 ? copy_all(k, blocks, args) : nullptr;
  args.parallel->for_each(parts.blocks * parts.pieces, [&](std::int64_t part, int worker) noexcept {
    char *const scratch = args.scratch_of<char>(worker), *const border = scratch + k.gemm_bytes, *const memory = border + border_bytes;
    const std::int64_t i = part / parts.pieces, j = part % parts.pieces, panels = k.plan.matrix.panels();
    const auto multiply = [&](const GemmBf16Rows& rows) {
      gemm_bf16(k.plan, {rows, args.in[1].data, j * panels / parts.pieces, (j + 1) * panels / parts.pieces, k.epilogue, bound, scratch});
    };
    if (k.blocking.rolls) return blocks.roll(i, memory, border, multiply);
    if (!table) blocks.copy(i, {}, memory, border);
    GemmBf16Rows rows = table ? table[i] : blocks.rows(i, memory);
    if (!table) rows.a.prefetch(blocks.next(i));
    multiply(rows);
  });
  return Status::ok;
}

bool may_alias(const Problem& p, int in, int) { return Bf16Epilogue(p, 1, own_bias(p)).in_place(in); }

}  // namespace

Tactic conv_amx(std::string name, Verdict (*supports)(const Problem&)) {
  return packed_tactic({.name = std::move(name), .version = 10, .ops = {"Conv"}, .formats = formats,
                        .workspace = workspace, .worker_scratch = worker_scratch, .may_alias = may_alias},
                       {supports, conv_amx_configs, conv_amx_valid, packed_bytes, pack, unpack, open, run,
                        conv_work});
}

}  // namespace tenfold::backends::cpu
