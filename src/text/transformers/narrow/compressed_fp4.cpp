// nvfp4-pack-quantized and mxfp4-pack-quantized of compressed-tensors: `weight_packed` u8[out, in / 2] has two neighbors of a row in a
// byte, the first in its lower half. `weight_scale` [out, blocks] is e4m3, and `weight_global_scale` divides it; or it is e8m0, also as u8.
#include <cmath>

#include "text/fail.h"
#include "text/transformers/narrow/rounded_matrix.h"

namespace tenfold::transformers {
namespace {

using tokenizing::fail;

Tensor scales_of(const Weights& weights, const LinearLayer& layer, Fp4 kind) {
  const std::string name = layer.name + ".weight_scale";
  const Shape shape{layer.out, (layer.in + block_of(kind) - 1) / block_of(kind)};
  const DType e8m0 = weights.has(name) && weights.place(name).type == DType::f8e8m0 ? DType::f8e8m0 : DType::u8;  // the same codes
  return weights.take_integers(name, shape, kind == Fp4::nvfp4 ? DType::f8e4m3fn : e8m0);
}

float global_of(const Weights& weights, const LinearLayer& layer, Fp4 kind) {
  if (kind == Fp4::mxfp4) return 1;
  const std::string name = layer.name + ".weight_global_scale";
  const Tensor tensor = weights.take_any(name);
  float value = 0;
  if (tensor.size() == 1) read_floats(tensor, 0, 1, 1, &value);
  if (!(value > 0) || !std::isfinite(value) || !std::isfinite(1 / value))
    fail(ErrorKind::invalid_model, "the tensor '" + name + "' is not one finite number above 0, which divides the scales");
  return value;
}

}  // namespace

NarrowMatrix compressed_fp4(const Weights& weights, const LinearLayer& layer, Fp4 kind) {
  if (layer.in % 2 != 0)
    fail(ErrorKind::unsupported, layer.name + ": rows of " + std::to_string(layer.in) + " values of 4 bits end inside of a byte");
  const Tensor packed = weights.take_integers(layer.name + ".weight_packed", {layer.out, layer.in / 2}, DType::u8);
  const Tensor scales = scales_of(weights, layer, kind);
  RoundedMatrix r{.bits = 4,
                  .in = layer.in,
                  .out = layer.out,
                  .block = std::min<std::int64_t>(block_of(kind), layer.in),
                  .fp4 = kind,
                  .global = global_of(weights, layer, kind),
                  .values = {},
                  .scales = {}};
  r.values.reserve(static_cast<std::size_t>(layer.in * layer.out));
  const auto* const byte = packed.data<std::uint8_t>();
  for (std::int64_t i = 0; i < packed.size(); ++i)
    r.values.push_back(byte[i] & 15), r.values.push_back(static_cast<std::uint8_t>(byte[i] >> 4));
  r.scale_codes.assign(scales.data<std::uint8_t>(), scales.data<std::uint8_t>() + scales.size());
  return narrow_matrix(r);
}

}  // namespace tenfold::transformers
