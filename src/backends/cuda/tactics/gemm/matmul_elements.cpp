// matmul_elements: matrix products with a thread for each element of the result: of integers, with zero points of both
// sides and weights that are no constants, and of types that gemm_tiled does not take.
#include "backends/cuda/tactics/threads_common.h"

namespace tenfold::backends {
namespace {

using namespace cuda;

bool with_zero_points(const Problem& p) { return p.op->name == "MatMulInteger"; }

Verdict zero_points_suit(const Problem& p) {
  for (std::size_t i = 2; i < 4; ++i)
    if (own(p, i) && p.in[i].dims.size() > 1) return Verdict::no("zero points of more than one dim");
  const auto suits = [&](std::size_t i, ir::Dim requested) {
    return !own(p, i) || p.in[i].dims.empty() || p.in[i].dims[0] == ir::Dim(1) || p.in[i].dims[0] == requested;
  };
  const ir::Dims& a = p.in[0].dims;
  if (!suits(2, a.size() > 1 ? a[a.size() - 2] : ir::Dim(1))) return Verdict::no("zero points are not one for each row");
  return Verdict::only_if(suits(3, p.in[1].dims.back()), "zero points are not one for each column");
}

// What another tactic surely takes.
Verdict is_needed(const Problem& p) {
  const DType t = p.in[0].dtype;
  if (with_zero_points(p)) {
    const bool one_zero = !own(p, 3) && (!own(p, 2) || ir::product(p.in[2].dims) == ir::Dim(1));
    return Verdict::only_if(!p.in[1].constant || p.in[1].dims.size() != 2 || !one_zero, "matrix units compute it");
  }
  return Verdict::only_if(!is_float(t) || bits(t) < 16 || p.in[1].dtype != t, "matmul_tiled computes it");
}

Verdict supports(const Problem& p) {
  for (const OperandDesc* o : {&p.in[0], &p.in[1], &p.out[0]})
    if (!has_c_type(o->dtype)) return Verdict::no(cat("an operand is ", name(o->dtype)));
  const ir::Dims &a = p.in[0].dims, &b = p.in[1].dims;
  if (a.empty() || b.empty()) return Verdict::no("an operand is a scalar");
  if (Verdict v = is_needed(p); !v) return v;
  if (Verdict v = zero_points_suit(p); !v) return v;
  if (a.back() != b[b.size() > 1 ? b.size() - 2 : 0]) return Verdict::no("rows and columns may differ in length");
  if (Verdict v = keeps_extents(p, p.body ? product_extents(p) : p.out[0].dims); !v) return v;
  return can_generate_threads(p, true);
}

std::shared_ptr<const void> open(const Problem& p, const Config&, Opening& opening) {
  KernelText text;
  if (with_zero_points(p)) text.define("SUM", "int");
  else define_sum(text, p);
  return std::make_shared<OpenThreads>(p, opening, "gemm/matmul_elements.cu", text);
}

}  // namespace

Tactic cuda_matmul_elements() {
  return {.name = "matmul_elements",
          .ops = {"MatMul", {"MatMulInteger", "matmul_integer_elements"}},
          .supports = supports,
          .configs = one_config,
          .open = open,
          .run = OpenThreads::run_each};
}

}  // namespace tenfold::backends
