// Which reader a folder's quantization_config needs, and what the readers share.
#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "text/fail.h"
#include "text/transformers/narrow/narrow_weights.h"

namespace tenfold::transformers {

using tokenizing::fail;
using tokenizing::Json;

NarrowSource narrow_weights(const Json& config, const std::string& wish) {
  if (!config.has("quantization_config")) {
    if (wish.empty()) return nullptr;
    const NarrowForm form = narrow_form(wish);
    return form.fp4 == Fp4::none ? round_to_nearest(form) : fp4_weights(form);
  }
  const Json given = config.at("quantization_config");
  const std::string method = given.has("quant_method") ? given.text("quant_method") : "";
  if (!wish.empty())
    fail(ErrorKind::invalid_argument, "weights is '" + wish + "', but those of the folder are quantized already (quantization_config: '" +
                                          method + "'); leave weights out, or take the folder of the model in floats");
  if (method == "gptq") return gptq_weights(given);
  if (method == "awq") return awq_weights(given);
  if (method == "compressed-tensors") return compressed_tensors_weights(given);
  fail(ErrorKind::unsupported, "weights that quantization_config's quant_method '" + method + "' describes are not read; gptq, awq and "
                               "compressed-tensors are. Take the folder of the model in fp32, fp16 or bf16; the option weights=int4:g32 "
                               "makes it narrow");
}

std::vector<std::int64_t> order_of(const Tensor& groups, std::int64_t block, const std::string& name) {
  const auto* const group = groups.data<std::int32_t>();
  std::vector<std::int64_t> order(static_cast<std::size_t>(groups.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto placed = [&](std::int64_t& row) { return group[row] == (&row - order.data()) / block; };
  if (std::all_of(order.begin(), order.end(), placed)) return {};
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return group[a] < group[b]; });
  if (!std::all_of(order.begin(), order.end(), placed))
    fail(ErrorKind::unsupported, "the tensor '" + name + "' gives groups other sizes than " + std::to_string(block) +
                                     " inputs each, which quantization_config says; quantize the model anew");
  return order;
}

namespace {

float of_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
  if (exponent == 0) {
    const float small = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -small : small;
  }
  return std::bit_cast<float>(sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | fraction << 13);
}

template <class T, class Convert>
void convert(const Tensor& from, std::int64_t first, std::int64_t stride, std::int64_t count, float* to, Convert act) {
  const T* const at = from.data<T>() + first;
  for (std::int64_t i = 0; i < count; ++i) to[i] = act(at[i * stride]);
}

}  // namespace

void read_floats(const Tensor& from, std::int64_t first, std::int64_t stride, std::int64_t count, float* to) {
  switch (from.dtype()) {
    case DType::f32: return convert<float>(from, first, stride, count, to, [](float v) { return v; });
    case DType::f64: return convert<double>(from, first, stride, count, to, [](double v) { return static_cast<float>(v); });
    case DType::f16: return convert<std::uint16_t>(from, first, stride, count, to, of_half);
    case DType::bf16:
      return convert<std::uint16_t>(from, first, stride, count, to,
                                    [](std::uint16_t v) { return std::bit_cast<float>(std::uint32_t{v} << 16); });
    default: fail(ErrorKind::unsupported, "weights or scales of the type " + std::string(name(from.dtype())) + " are not read");
  }
}

}  // namespace tenfold::transformers
