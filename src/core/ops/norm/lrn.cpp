// LRN: divides each element by a power of the squares of its neighbors across channels.
#include <algorithm>

#include "ops/norm/norm_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(0) >= 2, "the input has rank ", call.rank(0), ", expected batch, channels and spatial dims");
  call.validate(call.attributes().has("size") && call.attributes().integer("size") > 0, "size is missing or not positive");
  call.out(0, call.dtype(0), call.dims(0));
}

void reference(Call& call) {
  const Attributes& attributes = call.attributes();
  const std::int64_t size = attributes.integer("size"), before = (size - 1) / 2, after = size - 1 - before;
  const double alpha = attributes.number("alpha"), beta = attributes.number("beta"), bias = attributes.number("bias");
  ops::for_each_line(call, 1, [&](auto x, auto y) {
    for (std::int64_t c = 0; c < x.size; ++c) {
      double squares = 0;
      const std::int64_t last = after < x.size - 1 - c ? c + after : x.size - 1;
      for (std::int64_t i = std::max<std::int64_t>(0, c - before); i <= last; ++i) {
        squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      }
      const double scale = std::pow(bias + alpha / static_cast<double>(size) * squares, -beta);
      y[c] = static_cast<std::decay_t<decltype(y[c])>>(static_cast<double>(x[c]) * scale);
    }
  });
}

}  // namespace

OpDef op_lrn() {
  return {.name = "LRN",
          .types = "T -> T; T: float",
          .attributes = {{"alpha", 1e-4f}, {"beta", 0.75f}, {"bias", 1.0f}},
          .optional_attributes = "size: int",
          .infer = infer,
          .reference = reference,
          .onnx_since = 1,
          .cases = {"f32[2,7,3,4] size=3 alpha=0.5", "f32[1,9,5,5] size=5 alpha=2.0 beta=0.5 bias=2.0", "f32[1,4,3] size=2 alpha=1.0"}};
}

}  // namespace tenfold::ir
