// Reading an attention problem: heads may be strided views, elements of a row lie side by side.
#include "backends/cuda/tactics/attention/attention_common.h"

#include <algorithm>

#include "backends/cuda/codegen/body_text.h"
#include "backends/cuda/device/queue.h"

namespace tenfold::backends::cuda {

std::int64_t max_keys(const Problem& p) {
  const std::int64_t rows = p.bounds(p.in[1].dims[2]).upper, longest = has_offsets(p) ? p.attributes->integer("longest", 0) : 0;
  return longest > 0 ? std::min(longest, rows) : rows;
}
std::int64_t max_queries(const Problem& p) { return has_offsets(p) ? max_keys(p) : p.bounds(p.in[0].dims[2]).upper; }

namespace {
bool is_computed(DType t) { return t == DType::f32 || t == DType::f16 || t == DType::bf16; }

// Results are of the operands' type, or an epilogue makes 8 bits of each; of e4m3 they are f32, or what the epilogue makes of that.
Verdict ends_well(const Problem& p) {
  const DType out = p.out[0].dtype;
  if (!p.body && is_of_float8(p)) return Verdict::only_if(out == DType::f32, "the result is not f32");
  if (!p.body) return Verdict::only_if(out == p.in[0].dtype, "operands differ in type");
  if (has_offsets(p)) return Verdict::no("a packed variable-length batch (cu_seqlens) takes no epilogue");
  if (p.in.size() != static_cast<std::size_t>(p.anchor_inputs)) return Verdict::no("the epilogue has operands of its own");
  const bool is_small = out == DType::f8e4m3fn || out == DType::i8 || out == DType::u8;
  if (!is_small && !(is_of_float8(p) && is_computed(out))) return Verdict::no("the epilogue does not make 8 bits of a result");
  return can_print(*p.body);
}
}  // namespace

Verdict attention_is_regular(const Problem& p) {
  constexpr std::int64_t kMaxBatches = 65534;   // of a grid, and one that clears what is behind the last sentence
  if (has_offsets(p) && (p.in[4].dtype != DType::i32 || !p.in[4].dense)) return Verdict::no("offsets are not dense i32");
  if (has_offsets(p) && p.bounds(p.in[4].dims[0]).upper > kMaxBatches) return Verdict::no("more than 65533 sentences");
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& o : *side) {
      if (o.missing || (side == &p.in && &o - p.in.data() == 4)) continue;
      const bool is_mask = &o - p.in.data() == 3;
      if (side == &p.in && !(is_of_float8(p) && !is_mask ? o.dtype == DType::f8e4m3fn : is_computed(o.dtype)))
        return Verdict::no("an operand is of another type than f32, f16 or bf16");
      if (o.layout != kPlain) return Verdict::no("an operand is not in plain layout");
    }
  if (Verdict v = ends_well(p); !v) return v;
  for (const OperandDesc* o : {&p.in[0], &p.in[1], &p.in[2], &p.out[0]}) {
    if (o->dtype != p.in[0].dtype && o != &p.out[0]) return Verdict::no("operands differ in type");
    if (!o->dense && !(o->strides.back() == ir::Dim(1))) return Verdict::no("elements of a head are not side by side");
  }
  const ir::Dim size = p.in[0].dims[3], value = p.in[2].dims[3];
  return Verdict::only_if(size.is_constant() && value.is_constant() && size.constant() > 0 && value.constant() > 0,
                          "the head size is not constant");
}

Verdict heads_fit_a_grid(const Problem& p) {
  constexpr std::int64_t kMax = 65535;
  return Verdict::only_if((has_offsets(p) || p.bounds(p.in[0].dims[0]).upper <= kMax) && p.bounds(p.in[0].dims[1]).upper <= kMax,
                          "more than 65535 batches or heads");
}

AttentionProblem attention_problem(const Problem& p) {
  AttentionProblem a;
  a.dtype = a.mask = p.in[0].dtype, a.out = p.out[0].dtype;
  if (p.body) a.body = *p.body;
  a.size = p.in[0].dims[3].constant(), a.value_size = p.in[2].dims[3].constant();
  a.scale = static_cast<double>(p.attributes->number("scale"));
  a.value_scale = static_cast<double>(p.attributes->number("value_scale", 1));
  a.causal = p.attributes->integer("causal", 0) != 0, a.cap = soft_cap(p);
  a.masked = p.in.size() > 3 && !p.in[3].missing, a.packed = has_offsets(p);
  if (!a.masked) return a;
  const OperandDesc& mask = p.in[3];
  a.mask = mask.dtype, a.zero_rows = !hidden_rows_are_nan(p);
  a.mask_row = mask.dims.size() < 2 || mask.dims[mask.dims.size() - 2] == ir::Dim(1);
  a.mask_tiles = bits(mask.dtype) == 16 && bits(a.dtype) == 16 && !mask.dims.empty() && mask.dims.back() == p.in[1].dims[2] &&
                 (mask.dense || mask.strides.back() == ir::Dim(1));
  return a;
}

AttentionArguments attention_arguments(const RunArgs& args, bool masked, std::int64_t longest) noexcept {
  const Bound &q = args.in[0], &k = args.in[1], &v = args.in[2], &y = args.out[0];
  AttentionArguments a{q.data,    k.data,    v.data,    masked ? args.in[3].data : nullptr,
                       y.data,    q.dims[2], k.dims[2], k.dims[1] > 0 ? q.dims[1] / k.dims[1] : 1,
                       q.dims[1], q.dims[0], {},        {},
                       {},        {},        {},        nullptr,
                       longest,   nullptr};
  const auto step = [](const Bound& b, int d) { return b.dims[d] == 1 ? 0 : b.strides[d]; };  // never taken: any number may stand there
  for (int d = 0; d < 3; ++d)
    a.q_stride[d] = step(q, d), a.k_stride[d] = step(k, d), a.v_stride[d] = step(v, d), a.y_stride[d] = step(y, d);
  if (longest > 0) {
    a.offsets = args.in[4].as<const std::int32_t>(), a.batches = std::max<std::int64_t>(args.in[4].dims[0] - 1, 0);
    a.bad_index = queue_of(args).bad_index;
  }
  if (!masked) return a;
  const Bound& mask = args.in[3];  // aligned to the right of four dims, broadcast where its extent is 1
  for (int d = 0; d < mask.rank; ++d) a.mask_stride[4 - mask.rank + d] = mask.dims[d] == 1 ? 0 : mask.strides[d];
  return a;
}

AttentionExtent attention_extent(const AttentionArguments& a) noexcept {
  if (!a.offsets) return {a.queries, a.batches};
  return {std::min(a.longest, a.queries), a.batches + 1};
}

}  // namespace tenfold::backends::cuda
