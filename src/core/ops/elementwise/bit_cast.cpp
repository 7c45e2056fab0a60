// BitCast: the bits of each element as another type of the same width.
#include "ir/fault.h"
#include "ops/elements.h"
#include "ops/onnx_dtype.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const std::string& to = call.attributes().string("to");
  const auto type = dtype_from_name(to);
  call.validate(type && *type != DType::string, "a type '", to, "' to cast bits to is not known");
  call.validate(bits(*type) == bits(call.dtype(0)), "elements of ", name(call.dtype(0)), " have ", bits(call.dtype(0)),
                " bits, those of ", to, " have ", bits(*type));
  call.out(0, *type, call.dims(0));
}

}  // namespace

OpDef op_bit_cast() {
  return {.name = "BitCast",
          .types = "dense -> dense",
          .optional_attributes = "to: string",
          .infer = infer,
          .reference = ops::copy_whole,
          .cases = {"f32[2,3] to=\"i32\"", "i64[5] to=\"f64\"", "bf16[3,4] to=\"u16\"", "i8[7] to=\"u8\"", "u8[2,2] to=\"bool\"",
                    "i4[3,3] to=\"u4\"", "f32[] to=\"u32\""}};
}

}  // namespace tenfold::ir
