// What tactics for TopK have in common.
#include "backends/cuda/tactics/reduce/topk_common.h"

#include "backends/cuda/codegen/prelude.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::size_t topk_axis(const Problem& p) {
  const auto rank = static_cast<std::int64_t>(p.in[0].dims.size());
  return static_cast<std::size_t>((p.attributes->integer("axis") + rank) % rank);
}

Verdict topk_fits(const Problem& p) {
  if (p.body) return Verdict::no("no epilogue is possible");
  const DType t = p.in[0].dtype;
  if (t != DType::f32 && t != DType::f16 && t != DType::bf16 && t != DType::i32) return Verdict::no(cat("elements of type ", name(t)));
  if (p.in[0].dims.empty()) return Verdict::no("a scalar");
  if (!p.in[1].constant) return Verdict::no("k is not constant");
  if (p.out.size() < 2 || p.out[0].missing || p.out[1].missing) return Verdict::no("an output is not wanted");
  for (const OperandDesc* o : {&p.in[0], &p.out[0], &p.out[1]})
    if (!o->dense || o->layout != kPlain) return Verdict::no("an operand is not dense and plain");
  if (p.bounds(p.in[0].dims[topk_axis(p)]).upper >= std::int64_t{1} << 31) return Verdict::no("rows are too long");
  return Verdict::only_if(p.bounds(ir::product(p.in[0].dims)).upper < std::int64_t{1} << 31, "too many elements");
}

void define_topk_order(KernelText& text, const Problem& p) {
  const DType t = p.in[0].dtype;
  text.define("T", storage_type(t)), text.define("COMPUTE", compute_type(t)), text.define("LOADED(x)", loaded(t, "(x)"));
  text.define("FLOATS", t == DType::i32 ? 0 : 1), text.define("LARGEST", p.attributes->integer("largest") != 0 ? "true" : "false");
}

}  // namespace tenfold::backends::cuda
