// Pow: a to the power of b; the result has the type of a, whatever the type of b.
#include "ops/pointwise_common.h"

namespace tenfold::ir {
namespace {

// Integers to integer powers stay exact; a float on either side makes the computation a float one, in the wider type.
DType compute_type(DType base, DType exponent) {
  if (base == exponent) return base;
  if (!is_float(base)) return is_float(exponent) ? DType::f64 : DType::i64;
  if (is_float(exponent) && bits(exponent) > bits(base)) return exponent;
  return bits(base) < 32 ? DType::f32 : base;
}

Body scalar(const Node& node) {
  BodyBuilder b = body_builder(node);
  const DType base = b.type_of(0), exponent = b.type_of(1);
  for (const DType type : {base, exponent}) {
    validate(is_float(type) || is_integer(type), "an operand is ", name(type), ", but must hold numbers");
  }
  const DType compute = compute_type(base, exponent);
  return b.finish({b.cast(b.binary(Prim::pow, b.cast(0, compute), b.cast(1, compute)), base)});
}

}  // namespace

OpDef op_pow() {
  return pointwise({.name = "Pow",
                    .min_inputs = 2, .max_inputs = 2,
                    .types = "T, number -> T; T: number",
                    .scalar = scalar,
                    .cases = {"f32[2,3,5](0.1,2) f32[2,3,5](-3,3)", "f32[2,3] f32[]{2}", "f32[3,1](0.1,2) i64[4](-3,3)",
                              "f32[0,4] f32[4]", "i32[3,4] i32[4](0,5)", "i64[3](1,9) f32[3](0,3)", "f16[5](0.1,2) f16[5]",
                              "f64[2,2](0.1,2) f32[2](-2,2)"}});
}

}  // namespace tenfold::ir
