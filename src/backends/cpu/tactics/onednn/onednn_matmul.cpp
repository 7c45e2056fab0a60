// onednn_matmul: activations times a constant matrix by oneDNN, rows cut into parts.
#include "backends/cpu/onednn/library.h"
#include "backends/cpu/tactics/onednn/onednn_common.h"

namespace tenfold::backends {
namespace {

using namespace cpu;

onednn::MatrixProduct product_of(const Problem& p) {
  onednn::MatrixProduct product{1, p.in[1].dims[0].constant(), p.in[1].dims[1].constant()};
  for (std::size_t i = 0; i + 1 < p.in[0].dims.size(); ++i) product.m *= p.in[0].dims[i].constant();
  return product;
}
std::shared_ptr<const onednn::Product> make(const Problem& p, std::int64_t parts, const OnednnEpilogue& epilogue) {
  return onednn::Product::make(product_of(p), parts, epilogue.has_bias(), epilogue.clamp());
}
OnednnForm form_of(const Problem& p) {
  const onednn::MatrixProduct product = product_of(p);
  const int last = static_cast<int>(p.out[0].dims.size()) - 1;
  return {.make = make, .channel_axis = last, .rows = product.m, .min_rows = 8, .columns = product.n};
}

Verdict supports(const Problem& p) {
  const OperandDesc &a = p.in[0], &b = p.in[1], &y = p.out[0];
  if (const Verdict there = onednn::usable(*p.device); !there) return there;
  if (a.dtype != DType::f32 || b.dtype != DType::f32) return Verdict::no("operands are not f32");
  if (!b.constant || b.dims.size() != 2) return Verdict::no("the right operand is not one constant matrix");
  if (!ir::is_constant(a.dims) || a.dims.empty()) return Verdict::no("the extents are not constants");
  if (!a.dense || !y.dense) return Verdict::no("an operand is a strided view");
  if (a.dims.size() != y.dims.size() || !std::equal(a.dims.begin(), a.dims.end() - 1, y.dims.begin()) || y.dims.back() != b.dims[1])
    return Verdict::no("the epilogue changes the result's extents");
  const onednn::MatrixProduct product = product_of(p);
  if (product.m < 1 || product.k < 1 || product.n < 1) return Verdict::no("an operand is empty");
  return onednn_supports(p, form_of(p));
}

double work(const Problem& p) {
  const onednn::MatrixProduct product = product_of(p);
  return 2.0 * static_cast<double>(product.m) * static_cast<double>(product.k) * static_cast<double>(product.n);
}

}  // namespace

Tactic cpu_onednn_matmul() {
  Tactic t{.name = "onednn_matmul", .ops = {"MatMul"}, .supports = supports, .work = work};
  fill_onednn<form_of>(t);
  return t;
}

}  // namespace tenfold::backends
