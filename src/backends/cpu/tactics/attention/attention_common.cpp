// Heads of fused attention as views of rows, cut into parts of some query rows each.
#include "backends/cpu/tactics/attention/attention_common.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

bool has_mask(const Problem& p) { return p.in.size() > 3 && !p.in[3].missing; }

Verdict is_view_of_rows(const OperandDesc& operand) {
  if (operand.layout != kPlain) return Verdict::no("an operand is not in plain layout");
  if (!operand.dense && !(operand.strides.back() == ir::Dim(1))) return Verdict::no("elements of a head are not side by side");
  return Verdict::ok();
}

// One for each row, so that the innermost axis has one element.
bool scales_lie_together(const OperandDesc& scale) { return scale.layout == kPlain && (scale.dense || scale.strides[2] == ir::Dim(1)); }

// Stride of axis `axis` of four, for an operand whose dims are aligned to the right and broadcast where they are 1.
int64_t stride(const Bound& operand, int axis) {
  const int own = axis - (4 - operand.rank);
  return own < 0 || operand.dims[own] == 1 ? 0 : operand.strides[own];
}

// Query rows [first, first + rows) of a head whose keys begin at row `begin`.
struct Piece { int64_t batch, head, begin, first, rows, keys; };

AttentionHead piece_of(const RunArgs& args, const AttentionPlan& plan, const Piece& piece) {
  const Bound &q = args.in[0], &k = args.in[1], &v = args.in[2], &out = args.out[0];
  const int64_t heads = q.dims[1], shared = heads / k.dims[1], h = piece.head, b = piece.batch;   // query heads that share keys and values
  const auto at = [&](const Bound& operand, int64_t row, DType type) {
    return operand.as<char>() + (b * operand.strides[0] + (operand.dims[1] == heads ? h : h / shared) * operand.strides[1] +
                                 (piece.begin + row) * operand.strides[2]) *
                                    (bits(type) / 8);
  };
  AttentionHead head{};
  head.q = at(q, piece.first, plan.type);
  head.k = at(k, 0, plan.cache_type);
  head.v = at(v, 0, plan.cache_type);
  head.out = at(out, piece.first, plan.type);
  if (plan.cache_type == DType::i8) {
    head.k_scale = reinterpret_cast<const float*>(at(args.in[5], 0, DType::f32));
    head.v_scale = reinterpret_cast<const float*>(at(args.in[6], 0, DType::f32));
  }
  head.q_row = q.strides[2];
  head.k_row = k.strides[2];
  head.v_row = v.strides[2];
  head.out_row = out.strides[2];
  if (plan.masked) {
    const Bound& mask = args.in[3];
    head.mask = mask.as<const char>() +
                (b * stride(mask, 0) + h * stride(mask, 1) + piece.first * stride(mask, 2)) * (bits(plan.mask_type) / 8);
    head.mask_row = stride(mask, 2);
    head.mask_col = stride(mask, 3);
  }
  head.rows = piece.rows;
  head.keys = piece.keys;
  head.size = q.dims[3];
  head.value_size = v.dims[3];
  head.first_row = piece.first;
  head.causal_shift = plan.causal ? 0 : int64_t{1} << 48;
  head.scale = plan.scale;
  head.hidden_row = plan.nan_rows && piece.keys > 0 ? std::numeric_limits<float>::quiet_NaN() : 0;   // sums of nothing are zero
  head.narrow = plan.type == DType::bf16;
  head.narrow_mask = plan.mask_type == DType::bf16;
  return head;
}

// Query rows are shared out evenly, in multiples of the micro-kernel's rows. Each piece packs its head's keys again: there are more of
// them than rows ask for only where workers would be without one. No row depends on how it is cut.
int64_t rows_of_piece(const AttentionPlan& plan, int64_t rows, int64_t heads, int64_t workers) {
  const int64_t pieces = std::max(ceil_div(rows, plan.max_rows), workers / heads);
  return std::min(round_up(ceil_div(rows, pieces), plan.unit), plan.max_rows);
}

void clear_rows(const Bound& out, int64_t first, int64_t bytes) {
  for (int64_t h = 0; h < out.dims[1]; ++h)
    for (int64_t row = first; row < out.dims[2]; ++row)
      std::memset(out.as<char>() + (h * out.strides[1] + row * out.strides[2]) * bytes, 0, static_cast<std::size_t>(out.dims[3] * bytes));
}

// Each sentence has as many parts as the longest one; those behind its end are empty.
Status::Code run_packed(const AttentionPlan& plan, const RunArgs& args) noexcept {
  const Bound &q = args.in[0], &offsets = args.in[4];
  const auto* begin = offsets.as<const std::int32_t>();
  const int64_t sentences = offsets.dims[0] - 1, heads = q.dims[1], rows = q.dims[2];
  int64_t longest = 0;
  if (sentences < 0 || begin[0] != 0 || begin[sentences] > rows) return Status::bad_index;
  for (int64_t i = 0; i < sentences; ++i) {
    if (begin[i] > begin[i + 1]) return Status::bad_index;
    longest = std::max<int64_t>(longest, begin[i + 1] - begin[i]);
  }
  clear_rows(args.out[0], begin[sentences], bits(plan.type) / 8);
  if (longest == 0) return Status::ok;
  const int64_t per_piece = rows_of_piece(plan, longest, sentences * heads, args.parallel->workers());
  const int64_t parts_per_head = ceil_div(longest, per_piece);
  args.parallel->for_each(sentences * heads * parts_per_head, [&](int64_t part, int worker) {
    const int64_t first = part % parts_per_head * per_piece, h = part / parts_per_head % heads, i = part / parts_per_head / heads;
    const int64_t keys = begin[i + 1] - begin[i];
    if (first < keys) plan.kernels->head(piece_of(args, plan, {0, h, begin[i], first, std::min(per_piece, keys - first), keys}),
                                         args.scratch_of(worker));
  });
  return Status::ok;
}

}  // namespace

Verdict attention_supports(const Problem& p) {
  if (Verdict v = no_epilogue(p); !v) return v;
  if (soft_cap(p) > 0) return Verdict::no("scores have a soft cap");
  std::vector<OperandDesc> floats(p.in.begin(), p.in.begin() + std::min<std::ptrdiff_t>(4, std::ssize(p.in)));
  floats.push_back(p.out[0]);
  if (has_int8_cache(p)) {
    if (p.in[3].dtype != DType::f32 && !p.in[3].missing) return Verdict::no("the mask is not f32");
    for (const std::size_t i : {5u, 6u})
      if (!scales_lie_together(p.in[i])) return Verdict::no("scales of a head are not side by side");
  }
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

AttentionHead attention_head(const RunArgs& args, const AttentionPlan& plan, int64_t batch, int64_t head) {
  return piece_of(args, plan, {batch, head, 0, 0, args.in[0].dims[2], args.in[1].dims[2]});
}

AttentionPlan::AttentionPlan(const Problem& p, const AttentionKernels& all, int64_t rows, int64_t multiple)
    : kernels(&all),
      max_rows(rows),
      unit(multiple),
      scale(p.attributes->number("scale")),
      causal(p.attributes->integer("causal") != 0),
      masked(has_mask(p)),
      packed(has_offsets(p)),
      nan_rows(hidden_rows_are_nan(p)),
      type(p.in[0].dtype),
      cache_type(p.in[1].dtype),
      mask_type(masked ? p.in[3].dtype : DType::f32) {}

Status::Code AttentionPlan::run(const RunArgs& args) const noexcept {
  const Bound &q = args.in[0], &k = args.in[1];
  const int64_t batch = q.dims[0], heads = q.dims[1], rows = q.dims[2];
  if (batch * heads * rows == 0) return Status::ok;
  if (packed) return run_packed(*this, args);
  const int64_t per_piece = rows_of_piece(*this, rows, batch * heads, args.parallel->workers()), parts_per_head = ceil_div(rows, per_piece);
  args.parallel->for_each(batch * heads * parts_per_head, [&](int64_t part, int worker) {
    const int64_t first = part % parts_per_head * per_piece, h = part / parts_per_head % heads, b = part / parts_per_head / heads;
    kernels->head(piece_of(args, *this, {b, h, 0, first, std::min(per_piece, rows - first), k.dims[2]}), args.scratch_of(worker));
  });
  return Status::ok;
}

}  // namespace tenfold::backends::cpu
