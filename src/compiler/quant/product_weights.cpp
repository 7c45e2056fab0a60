#include "quant/product_weights.h"

#include "ir/finite.h"
#include "quant/place_qdq.h"

namespace tenfold::quant {

std::optional<ProductWeights> weights_of(const ir::Node& product) {
  if (!is_product(product) || !why_wide(product).empty() || !ir::all_finite(product.in(1)->constant->tensor)) return {};
  const Shape& shape = product.in(1)->constant->tensor.shape();
  ProductWeights w;
  if (product.op() == "Conv") {
    w.groups = product.attributes.integer("group", 1);
    for (std::size_t d = 2; d < shape.size(); ++d) w.taps *= shape[d];
    w.out = shape[0], w.in = shape[1] * w.groups, w.row = shape[1] * w.taps, w.step = 1;
    if (w.groups < 1 || w.out % w.groups != 0) return {};
    return w;
  }
  if (product.op() == "Gemm" && product.attributes.integer("transA", 0)) return {};
  const bool transposed = product.op() == "Gemm" && product.attributes.integer("transB", 0);
  w.in = shape[transposed ? 1 : 0], w.out = shape[transposed ? 0 : 1];
  w.row = transposed ? w.in : 1, w.step = transposed ? 1 : w.out, w.channels_last = true;
  return w;
}

}  // namespace tenfold::quant
