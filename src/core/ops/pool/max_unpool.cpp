// MaxUnpool: puts elements back where MaxPool's indices say they came from; zero elsewhere.
#include "base/checked.h"
#include "ops/elements.h"
#include "ops/pool/pool_common.h"

namespace tenfold::ir {
namespace {

// The extents that the indices count in: what the pooling's input had to be at least.
Dims pooled_extents(const Attributes& attributes, std::span<const Dim> dims) {
  const std::span<const Dim> spatial = dims.subspan(2);
  const ops::Window window = ops::window_of(attributes, spatial, ops::pool_kernel(attributes, spatial.size()));
  Dims result(dims.begin(), dims.begin() + 2);
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    result.push_back((spatial[i] - 1) * window.strides[i] + window.kernel[i] - window.begin[i] - window.end[i]);
  }
  return result;
}

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 3 && call.rank(1) == call.rank(0), "data and indices have the ranks ", call.rank(0), " and ",
                   call.rank(1));
  Dims dims = pooled_extents(call.attributes(), call.dims(0));
  if (call.has(2) && call.contents(2)) {
    dims = *call.contents(2);
  } else if (call.has(2)) {
    for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = call.new_symbol(cat("extent", i), 0, kUnbounded);
  }
  call.check_shape(static_cast<int>(dims.size()) == call.rank(0), "the shape asked for has ", dims.size(), " dims, expected ",
                   call.rank(0));
  for (const Dim& dim : dims) call.check_shape(!dim.is_constant() || dim.constant() >= 0, "the result would have the extent ", dim.text());
  call.out(0, call.dtype(0), dims);
}

void reference(Call& call) {
  const Shape within = constants(pooled_extents(call.attributes(), to_dims(call.in[0].shape))), &out = call.out[0].shape;
  const std::int64_t count = element_count(within);
  call.check_shape(call.in[1].size() == call.in[0].size(), "there are ", call.in[1].size(), " indices for ", call.in[0].size(),
                   " elements");
  const Ints indices = ops::read_ints(call.in[1]);
  for (std::int64_t i = 0; i < call.in[0].size(); ++i) {
    std::int64_t rest = indices[static_cast<std::size_t>(i)], at = 0, stride = 1;
    const std::int64_t index = rest;
    call.check_index(index >= 0 && index < count, "index ", index, " is outside [0, ", count, ")");
    for (std::size_t d = within.size(); d-- > 0; rest /= within[d], stride *= out[d]) {
      call.check_index(rest % within[d] < out[d], "index ", index, " lies outside the shape asked for");
      at += rest % within[d] * stride;
    }
    ops::move_elements(call.in[0].dtype, call.in[0].data, i, call.out[0].data, at, 1);
  }
}

}  // namespace

OpDef op_max_unpool() {
  return {.name = "MaxUnpool",
          .min_inputs = 2,
          .max_inputs = 3,
          .types = "T, int, int -> T; T: number",
          .optional_attributes = "kernel_shape: ints, strides: ints, pads: ints",
          .infer = infer,
          .reference = reference,
          .onnx_since = 9,
          .cases = {"f32[1,1,2,2] i64[1,1,2,2]{5,7,13,15} kernel_shape=[2,2] strides=[2,2]",
                    "f32[1,1,2,2] i64[1,1,2,2]{5,7,13,15} i64[4]{1,1,5,5} kernel_shape=[2,2] strides=[2,2]",
                    "f32[1,2,3] i64[1,2,3]{0,2,5,6,9,10} kernel_shape=[2] strides=[2]"}};
}

}  // namespace tenfold::ir
