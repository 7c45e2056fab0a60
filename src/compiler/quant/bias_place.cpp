#include "quant/bias_place.h"

#include "quant/product_weights.h"

namespace tenfold::quant {
namespace {

bool is_bias(const ir::Value& v, std::int64_t channels) {
  if (!v.is_constant() || v.dtype() != DType::f32 || v.constant->tensor.size() != channels) return false;
  return v.constant->tensor.rank() > 0 && v.constant->tensor.shape().back() == channels;
}

}  // namespace

std::optional<BiasPlace> bias_place(ir::Node& product) {
  const auto weights = weights_of(product);
  if (!weights) return {};
  if (product.op() == "MatMul") {
    if (product.out()->users.size() != 1) return {};
    ir::Node* sum = product.out()->users.front();
    if (sum->op() != "Add" || sum->body) return {};
    for (const int i : {0, 1})
      if (is_bias(*sum->in(i), weights->out) && sum->in(1 - i) == product.out()) return BiasPlace{sum, i};
    return {};
  }
  if (product.op() == "Gemm" && (product.attributes.number("beta", 1) != 1)) return {};
  if (product.in(2) && !is_bias(*product.in(2), weights->out)) return {};
  return BiasPlace{&product, 2};
}

}  // namespace tenfold::quant
