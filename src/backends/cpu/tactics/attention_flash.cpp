// attention_flash: fused attention of f32 heads that may be strided views; the score matrix is never stored.
#include <algorithm>

#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

const AttentionKernels& kernels_of(const Problem& p) { return pick(p, tenfold_attention_avx2, tenfold_attention_avx512); }

bool has_offsets(const Problem& p) { return p.in.size() > 4 && !p.in[4].missing; }

Verdict is_view_of_rows(const OperandDesc& operand) {
  if (operand.dtype != DType::f32) return Verdict::no("an operand is not f32");
  if (operand.layout != kPlain) return Verdict::no("an operand is not in plain layout");
  if (!operand.dense && !(operand.strides.back() == ir::Dim(1))) return Verdict::no("elements of a head are not side by side");
  return Verdict::ok();
}

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  std::vector<OperandDesc> floats(p.in.begin(), p.in.begin() + std::min<std::ptrdiff_t>(4, std::ssize(p.in)));
  floats.push_back(p.out[0]);
  for (const OperandDesc& operand : floats)
    if (!operand.missing && !operand.dims.empty())
      if (Verdict v = is_view_of_rows(operand); !v) return v;
  if (has_offsets(p) && (p.in[4].dtype != DType::i32 || !p.in[4].dense)) return Verdict::no("offsets are not dense i32");
  const ir::Dim size = p.in[0].dims[3], value_size = p.in[2].dims[3];
  if (!size.is_constant() || !value_size.is_constant()) return Verdict::no("the head size is not constant");
  if (size.constant() < 1 || size.constant() > 1024 || value_size.constant() < 1 || value_size.constant() > 1024)
    return Verdict::no("a head size outside 1 to 1024");
  return Verdict::ok();
}

struct Kernel {
  const AttentionKernels* kernels;
  float scale;
  bool causal, masked, packed;
};
std::shared_ptr<const void> open(const Problem& p, const Config&) {
  return std::make_shared<Kernel>(Kernel{&kernels_of(p), p.attributes->number("scale"),
                                         p.attributes->integer("causal") != 0, p.in.size() > 3 && !p.in[3].missing, has_offsets(p)});
}
ir::Dim worker_scratch(const Problem& p, const Config&) {
  return kernels_of(p).scratch_bytes(p.in[0].dims[3].constant(), p.in[2].dims[3].constant());
}

// Stride of axis `axis` of four, for an operand whose dims are aligned to the right and broadcast where they are 1.
int64_t stride(const Bound& operand, int axis) {
  const int own = axis - (4 - operand.rank);
  return own < 0 || operand.dims[own] == 1 ? 0 : operand.strides[own];
}

// Query rows [first, first + rows) of a head whose keys begin at row `begin`.
struct Piece { int64_t batch, head, begin, first, rows, keys; };

AttentionHead piece_of(const RunArgs& args, const Kernel& kernel, const Piece& piece) {
  const Bound &q = args.in[0], &k = args.in[1], &v = args.in[2], &out = args.out[0];
  const int64_t heads = q.dims[1], shared = heads / k.dims[1], h = piece.head, b = piece.batch;   // query heads that share keys and values
  const auto at = [&](const Bound& operand) {
    return operand.as<float>() + b * operand.strides[0] + (operand.dims[1] == heads ? h : h / shared) * operand.strides[1] +
           piece.begin * operand.strides[2];
  };
  AttentionHead head{};
  head.q = at(q) + piece.first * q.strides[2];
  head.k = at(k);
  head.v = at(v);
  head.out = at(out) + piece.first * out.strides[2];
  head.q_row = q.strides[2];
  head.k_row = k.strides[2];
  head.v_row = v.strides[2];
  head.out_row = out.strides[2];
  if (kernel.masked) {
    const Bound& mask = args.in[3];
    head.mask = mask.as<const float>() + b * stride(mask, 0) + h * stride(mask, 1) + piece.first * stride(mask, 2);
    head.mask_row = stride(mask, 2);
    head.mask_col = stride(mask, 3);
  }
  head.rows = piece.rows;
  head.keys = piece.keys;
  head.size = q.dims[3];
  head.value_size = v.dims[3];
  head.first_row = piece.first;
  head.causal_shift = kernel.causal ? 0 : int64_t{1} << 48;
  head.scale = kernel.scale;
  return head;
}

// Query rows are shared out evenly, in multiples of the micro-kernel's rows.
int64_t rows_of_piece(int64_t rows, int64_t most) {
  const int64_t pieces = ceil_div(rows, most);
  return std::min((ceil_div(rows, pieces) + 11) / 12 * 12, most);
}

void clear_rows(const Bound& out, int64_t first) {
  for (int64_t h = 0; h < out.dims[1]; ++h)
    for (int64_t row = first; row < out.dims[2]; ++row)
      std::fill_n(out.as<float>() + h * out.strides[1] + row * out.strides[2], out.dims[3], 0.f);
}

// Each sentence has as many parts as the longest one; those behind its end are empty.
Status::Code run_packed(const Kernel& kernel, const RunArgs& args) noexcept {
  const Bound &q = args.in[0], &offsets = args.in[4];
  const auto* begin = offsets.as<const std::int32_t>();
  const int64_t sentences = offsets.dims[0] - 1, heads = q.dims[1], rows = q.dims[2];
  int64_t longest = 0;
  if (sentences < 0 || begin[0] != 0 || begin[sentences] > rows) return Status::bad_index;
  for (int64_t i = 0; i < sentences; ++i) {
    if (begin[i] > begin[i + 1]) return Status::bad_index;
    longest = std::max<int64_t>(longest, begin[i + 1] - begin[i]);
  }
  clear_rows(args.out[0], begin[sentences]);
  if (longest == 0) return Status::ok;
  const int64_t per_piece = rows_of_piece(longest, kernel.kernels->max_rows), parts_per_head = ceil_div(longest, per_piece);
  args.parallel->for_each(sentences * heads * parts_per_head, [&](int64_t part, int worker) {
    const int64_t first = part % parts_per_head * per_piece, h = part / parts_per_head % heads, i = part / parts_per_head / heads;
    const int64_t keys = begin[i + 1] - begin[i];
    if (first < keys) kernel.kernels->head(piece_of(args, kernel, {0, h, begin[i], first, std::min(per_piece, keys - first), keys}),
                                           args.scratch_of(worker));
  });
  return Status::ok;
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound &q = args.in[0], &k = args.in[1];
  const int64_t batch = q.dims[0], heads = q.dims[1], rows = q.dims[2];
  if (batch * heads * rows == 0) return Status::ok;
  if (kernel.packed) return run_packed(kernel, args);
  const int64_t per_piece = rows_of_piece(rows, kernel.kernels->max_rows), parts_per_head = ceil_div(rows, per_piece);
  args.parallel->for_each(batch * heads * parts_per_head, [&](int64_t part, int worker) {
    const int64_t first = part % parts_per_head * per_piece, h = part / parts_per_head % heads, b = part / parts_per_head / heads;
    kernel.kernels->head(piece_of(args, kernel, {b, h, 0, first, std::min(per_piece, rows - first), k.dims[2]}), args.scratch_of(worker));
  });
  return Status::ok;
}

double work(const Problem& p) {
  const auto upper = [&](const ir::Dim& d) { return static_cast<double>(p.bounds(d).upper); };
  const ir::Dims &q = p.in[0].dims, &v = p.in[2].dims;
  const double sentences = has_offsets(p) ? std::max(upper(p.in[4].dims[0]) - 1, 1.0) : 1;   // rows see those of their own only
  return 2 * upper(q[0]) * upper(q[1]) * upper(q[2]) * upper(v[2]) / sentences * (upper(q[3]) + upper(v[3]));
}

}  // namespace

Tactic cpu_attention_flash() {
  return {.name = "attention_flash",
          .op = "FusedAttention",
          .supports = supports,
          .configs = one_config,
          .worker_scratch = worker_scratch,
          .open = open,
          .run = run,
          .work = work};
}

}  // namespace tenfold::backends
