// attention_flash: fused attention of f32 heads that may be strided views; the score matrix is never stored.
#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/tactics/row_problem_common.h"
#include "base/checked.h"

namespace tenfold::backends {
namespace {

using namespace cpu;
using std::int64_t;

const AttentionKernels& kernels_of(const Problem& p) { return pick(p, tenfold_attention_avx2, tenfold_attention_avx512); }

Verdict is_view_of_rows(const OperandDesc& operand) {
  if (operand.dtype != DType::f32) return Verdict::no("an operand is not f32");
  if (operand.layout != kPlain) return Verdict::no("an operand is not in plain layout");
  if (!operand.dense && !(operand.strides.back() == ir::Dim(1))) return Verdict::no("elements of a head are not side by side");
  return Verdict::ok();
}

Verdict supports(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& operand : *side)
      if (!operand.missing && !operand.dims.empty())
        if (Verdict v = is_view_of_rows(operand); !v) return v;
  if (p.in.size() > 4 && !p.in[4].missing) return Verdict::no("row offsets");
  const ir::Dim size = p.in[0].dims[3], value_size = p.in[2].dims[3];
  if (!size.is_constant() || !value_size.is_constant()) return Verdict::no("the head size is not constant");
  if (size.constant() < 1 || size.constant() > 1024 || value_size.constant() < 1 || value_size.constant() > 1024)
    return Verdict::no("a head size outside 1 to 1024");
  return Verdict::ok();
}

struct Kernel {
  const AttentionKernels* kernels;
  float scale;
  bool causal, masked;
};
std::shared_ptr<const void> open(const Problem& p, const Config&) {
  return std::make_shared<Kernel>(Kernel{&kernels_of(p), p.attributes->number("scale"),
                                         p.attributes->integer("causal") != 0, p.in.size() > 3 && !p.in[3].missing});
}
ir::Dim worker_scratch(const Problem& p, const Config&) {
  return kernels_of(p).scratch_bytes(p.in[0].dims[3].constant(), p.in[2].dims[3].constant());
}

// Stride of axis `axis` of four, for an operand whose dims are aligned to the right and broadcast where they are 1.
int64_t stride(const Bound& operand, int axis) {
  const int own = axis - (4 - operand.rank);
  return own < 0 || operand.dims[own] == 1 ? 0 : operand.strides[own];
}

Status::Code run(const void* self, const RunArgs& args) noexcept {
  const Kernel& kernel = *static_cast<const Kernel*>(self);
  const Bound &q = args.in[0], &k = args.in[1], &v = args.in[2], &out = args.out[0];
  const int64_t batch = q.dims[0], heads = q.dims[1], rows = q.dims[2];
  if (batch * heads * rows == 0) return Status::ok;
  // Query rows are shared out evenly, in multiples of the micro-kernel's rows.
  const int64_t pieces = ceil_div(rows, kernel.kernels->max_rows),
                per_piece = std::min((ceil_div(rows, pieces) + 11) / 12 * 12, kernel.kernels->max_rows);
  const int64_t parts_per_head = ceil_div(rows, per_piece);
  args.parallel->for_each(batch * heads * parts_per_head, [&](int64_t part, int worker) {
    const int64_t first = part % parts_per_head * per_piece, h = part / parts_per_head % heads, b = part / parts_per_head / heads;
    AttentionHead head{};
    const int64_t shared = heads / k.dims[1];   // query heads that share keys and values
    const auto at = [&](const Bound& operand) {
      return operand.as<float>() + b * operand.strides[0] + (operand.dims[1] == heads ? h : h / shared) * operand.strides[1];
    };
    head.q = at(q) + first * q.strides[2];
    head.k = at(k);
    head.v = at(v);
    head.out = at(out) + first * out.strides[2];
    head.q_row = q.strides[2];
    head.k_row = k.strides[2];
    head.v_row = v.strides[2];
    head.out_row = out.strides[2];
    if (kernel.masked) {
      const Bound& mask = args.in[3];
      head.mask = mask.as<const float>() + b * stride(mask, 0) + h * stride(mask, 1) + first * stride(mask, 2);
      head.mask_row = stride(mask, 2);
      head.mask_col = stride(mask, 3);
    }
    head.rows = std::min(per_piece, rows - first);
    head.keys = k.dims[2];
    head.size = q.dims[3];
    head.value_size = v.dims[3];
    head.first_row = first;
    head.causal_shift = kernel.causal ? 0 : int64_t{1} << 48;
    head.scale = kernel.scale;
    kernel.kernels->head(head, args.scratch_of(worker));
  });
  return Status::ok;
}

double work(const Problem& p) {
  const auto upper = [&](const ir::Dim& d) { return static_cast<double>(p.bounds(d).upper); };
  const ir::Dims &q = p.in[0].dims, &v = p.in[2].dims;
  return 2 * upper(q[0]) * upper(q[1]) * upper(q[2]) * upper(v[2]) * (upper(q[3]) + upper(v[3]));
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
