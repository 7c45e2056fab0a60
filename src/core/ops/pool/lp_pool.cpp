// LpPool: the p-norm of each window.
#include <cmath>

#include "ops/pool/pool_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.validate(call.attributes().integer("p") > 0, "p is ", call.attributes().integer("p"), ", expected a positive number");
  call.out(0, call.dtype(0), ops::infer_pool(call));
}

void reference(Call& call) {
  const ops::Geometry g = ops::pool_geometry(call);
  const auto p = static_cast<double>(call.attributes().integer("p"));
  ops::with_real(call.in[0].dtype, [&]<class T>(T) {
    const ops::RealIn<T> x(call.in[0]);
    const ops::RealOut<T> y(call.out[0]);
    ops::pool_windows(g, call.in[0].shape[0] * call.in[0].shape[1], x.data(), y.data(),
                      [&](const T* image, const ops::Geometry::Three& o, std::int64_t) {
                        double sum = 0;
                        ops::visit_window(g, o, [&](std::int64_t i) { sum += std::pow(std::fabs(static_cast<double>(image[i])), p); });
                        return std::pow(sum, 1 / p);
                      });
  });
}

}  // namespace

OpDef op_lp_pool() {
  return {.name = "LpPool",
          .types = "T -> T; T: float",
          .attributes = {{"auto_pad", "NOTSET"}, {"ceil_mode", 0}, {"p", 2}},
          .optional_attributes = "kernel_shape: ints, strides: ints, dilations: ints, pads: ints",
          .infer = infer,
          .reference = reference,
          .cases = {"f32[1,3,8,8] kernel_shape=[2,2] strides=[2,2]", "f32[2,4,9,7] kernel_shape=[3,3] pads=[1,1,1,1] p=1",
                    "f32[1,3,13] kernel_shape=[3] dilations=[2] p=3"}};
}

}  // namespace tenfold::ir
