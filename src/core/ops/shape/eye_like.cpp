// EyeLike: ones on the k-th diagonal of a matrix of the input's shape, zeros elsewhere.
#include "base/types/element.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) == 2, "the input has rank ", call.rank(0), ", 2 expected");
  const auto type = dtype_from_name(call.attributes().string("dtype", name(call.dtype(0))));
  call.validate(type && *type != DType::string, "dtype '", call.attributes().string("dtype", ""), "' is not a numeric type");
  call.out(0, *type, call.dims(0));
}

void reference(Call& call) {
  const std::int64_t k = call.attributes().integer("k");
  ops::for_each_index(call.in[0].shape, [&](const Shape& index, std::int64_t i) {
    store_double(call.out[0].dtype, call.out[0].data, i, index[1] - index[0] == k ? 1 : 0);
  });
}

}  // namespace

OpDef op_eye_like() {
  return {.name = "EyeLike",
          .types = "dense -> dense",
          .attributes = {{"k", 0}},
          .optional_attributes = "dtype: string",
          .infer = infer,
          .reference = reference,
          .cases = {"f32[3,4]", "i32[4,3] k=1 dtype=\"f32\"", "f64[3,3] k=-1"}};
}

}  // namespace tenfold::ir
